import BluetoothBase

/// A value that consists of UTF-8 text, like the strings of the Device Information service.
///
/// Invalid UTF-8 is replaced by U+FFFD. Trailing zeros, which many devices send, are not part of the text.
public protocol TextCharacteristicValue: CharacteristicValue, Hashable, CustomStringConvertible {
    var text: String { get set }

    init(_ text: String)
}

extension TextCharacteristicValue {
    /// Decodes the text. Any sequence of octets is valid, even an empty one.
    public init(decoding bytes: Span<UInt8>) throws(DecodingFailure) {
        var count = bytes.count
        while count > 0, bytes[count - 1] == 0 { count -= 1 }
        let text = bytes.extracting(0..<count)
        self.init(text.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) })
    }

    /// Appends the text as UTF-8, without a terminating zero.
    public func encode(into writer: inout ByteWriter) { writer.append(Array(text.utf8)) }

    /// The text itself.
    public var description: String { text }
}

/// Manufacturer Name String, 0x2A29.
public struct ManufacturerNameString: TextCharacteristicValue {
    /// The characteristic's UUID, 0x2A29.
    public static var uuid: BluetoothUUID { .init(0x2A29) }
    /// The name of the device's manufacturer.
    public var text: String
    /// Creates a manufacturer name.
    public init(_ text: String) { self.text = text }
}

/// Model Number String, 0x2A24.
public struct ModelNumberString: TextCharacteristicValue {
    /// The characteristic's UUID, 0x2A24.
    public static var uuid: BluetoothUUID { .init(0x2A24) }
    /// The model number that the manufacturer has assigned.
    public var text: String
    /// Creates a model number.
    public init(_ text: String) { self.text = text }
}

/// Serial Number String, 0x2A25.
public struct SerialNumberString: TextCharacteristicValue {
    /// The characteristic's UUID, 0x2A25.
    public static var uuid: BluetoothUUID { .init(0x2A25) }
    /// The serial number of this particular device.
    public var text: String
    /// Creates a serial number.
    public init(_ text: String) { self.text = text }
}

/// Hardware Revision String, 0x2A27.
public struct HardwareRevisionString: TextCharacteristicValue {
    /// The characteristic's UUID, 0x2A27.
    public static var uuid: BluetoothUUID { .init(0x2A27) }
    /// The revision of the device's hardware.
    public var text: String
    /// Creates a hardware revision.
    public init(_ text: String) { self.text = text }
}

/// Firmware Revision String, 0x2A26.
public struct FirmwareRevisionString: TextCharacteristicValue {
    /// The characteristic's UUID, 0x2A26.
    public static var uuid: BluetoothUUID { .init(0x2A26) }
    /// The revision of the device's firmware.
    public var text: String
    /// Creates a firmware revision.
    public init(_ text: String) { self.text = text }
}

/// Software Revision String, 0x2A28.
public struct SoftwareRevisionString: TextCharacteristicValue {
    /// The characteristic's UUID, 0x2A28.
    public static var uuid: BluetoothUUID { .init(0x2A28) }
    /// The revision of the device's software.
    public var text: String
    /// Creates a software revision.
    public init(_ text: String) { self.text = text }
}
