import BluetoothLE
import CoreBluetooth

/// A service of a `VirtualPeripheral`.
public struct VirtualService {
    public var uuid: CBUUID
    public var characteristics: [VirtualCharacteristic]

    public init(_ uuid: String, _ characteristics: [VirtualCharacteristic]) {
        self.uuid = CBUUID(string: uuid)
        self.characteristics = characteristics
    }

    var definition: GATTServiceDefinition {
        GATTServiceDefinition(uuid: uuid.bluetooth, characteristics: characteristics.map(\.definition))
    }
}

/// A characteristic of a `VirtualPeripheral`.
public struct VirtualCharacteristic {
    public var uuid: CBUUID
    public var properties: CBCharacteristicProperties
    /// The value at first, which writes change; nil where the peripheral's delegate is asked.
    public var value: Data?
    /// What a User Description descriptor says, if there is to be one.
    public var userDescription: String?

    public init(
        _ uuid: String, _ properties: CBCharacteristicProperties, value: Data? = nil, userDescription: String? = nil
    ) {
        self.uuid = CBUUID(string: uuid)
        self.properties = properties
        self.value = value
        self.userDescription = userDescription
    }

    fileprivate var definition: GATTCharacteristicDefinition {
        GATTCharacteristicDefinition(
            uuid: uuid.bluetooth,
            properties: GATTCharacteristicProperties(rawValue: UInt8(truncatingIfNeeded: properties.rawValue)),
            value: value.map { .variableLength([UInt8]($0)) } ?? .dynamic,
            descriptors: userDescription.map { [.userDescription($0)] } ?? [])
    }
}

extension CBUUID {
    /// The UUID in the stack's words.
    var bluetooth: BluetoothUUID {
        let octets = [UInt8](data)
        func number(_ range: Range<Int>) -> UInt64 { octets[range].reduce(0) { $0 << 8 | UInt64($1) } }
        guard octets.count == 16 else { return BluetoothUUID(uint32: UInt32(number(0..<octets.count))) }
        return BluetoothUUID(high: number(0..<8), low: number(8..<16))
    }
}
