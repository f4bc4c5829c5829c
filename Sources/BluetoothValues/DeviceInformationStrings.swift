import BluetoothBase

/// A value that is text in UTF-8, like the strings of the Device Information service.
///
/// Invalid UTF-8 is replaced by U+FFFD. Trailing zeros, which many devices send, are not part of the text.
public protocol TextCharacteristicValue: CharacteristicValue, Hashable, CustomStringConvertible {
    var text: String { get set }

    init(_ text: String)
}

extension TextCharacteristicValue {
    /// Reads the text. Any sequence of octets is valid, even an empty one.
    public init(decoding bytes: Span<UInt8>) throws(DecodingFailure) {
        var count = bytes.count
        while count > 0, bytes[count - 1] == 0 { count -= 1 }
        let text = bytes.extracting(0..<count)
        self.init(text.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) })
    }

    public func encode(into writer: inout ByteWriter) { writer.append(Array(text.utf8)) }

    public var description: String { text }
}

/// Manufacturer Name String, 0x2A29.
public struct ManufacturerNameString: TextCharacteristicValue {
    public static var uuid: BluetoothUUID { .init(0x2A29) }
    public var text: String
    public init(_ text: String) { self.text = text }
}

/// Model Number String, 0x2A24.
public struct ModelNumberString: TextCharacteristicValue {
    public static var uuid: BluetoothUUID { .init(0x2A24) }
    public var text: String
    public init(_ text: String) { self.text = text }
}

/// Serial Number String, 0x2A25.
public struct SerialNumberString: TextCharacteristicValue {
    public static var uuid: BluetoothUUID { .init(0x2A25) }
    public var text: String
    public init(_ text: String) { self.text = text }
}

/// Hardware Revision String, 0x2A27.
public struct HardwareRevisionString: TextCharacteristicValue {
    public static var uuid: BluetoothUUID { .init(0x2A27) }
    public var text: String
    public init(_ text: String) { self.text = text }
}

/// Firmware Revision String, 0x2A26.
public struct FirmwareRevisionString: TextCharacteristicValue {
    public static var uuid: BluetoothUUID { .init(0x2A26) }
    public var text: String
    public init(_ text: String) { self.text = text }
}

/// Software Revision String, 0x2A28.
public struct SoftwareRevisionString: TextCharacteristicValue {
    public static var uuid: BluetoothUUID { .init(0x2A28) }
    public var text: String
    public init(_ text: String) { self.text = text }
}
