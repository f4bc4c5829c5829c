import BluetoothLE
import CoreBluetooth
import Foundation

/// A service of a `VirtualPeripheral`.
public struct VirtualService {
    /// The UUID of the service.
    public var uuid: CBUUID
    /// The characteristics, in the order in which the peripheral publishes them.
    public var characteristics: [VirtualCharacteristic]

    /// Creates a primary service.
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
    /// The UUID of the characteristic.
    public var uuid: CBUUID
    /// The operations that centrals may use. Only bits 0 to 7 count: properties that require encryption are ignored.
    public var properties: CBCharacteristicProperties
    /// The initial value, which writes and `simulateValueUpdate` change. If nil, the peripheral's delegate answers.
    public var value: Data?
    /// The text of the User Description descriptor, if any.
    public var userDescription: String?

    /// Creates a characteristic. Without a value, the peripheral's delegate answers reads and decides about writes.
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
