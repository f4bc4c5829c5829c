import BluetoothLE
import CoreBluetooth
import Foundation

/// A service of a `VirtualPeripheral`.
public struct VirtualService {
    public var uuid: CBUUID
    public var characteristics: [VirtualCharacteristic]

    public init(_ uuid: some CBUUIDConvertible, _ characteristics: [VirtualCharacteristic]) {
        self.uuid = uuid.cbuuid
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
    /// The initial value, which writes and `simulateValueUpdate` change; nil if the peripheral's delegate answers.
    public var value: Data?
    /// The text of the User Description descriptor, if any.
    public var userDescription: String?

    public init(
        _ uuid: some CBUUIDConvertible, _ properties: CBCharacteristicProperties, value: Data? = nil,
        userDescription: String? = nil
    ) {
        self.uuid = uuid.cbuuid
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
