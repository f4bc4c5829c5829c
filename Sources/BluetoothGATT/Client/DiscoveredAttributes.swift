import BluetoothATT
import BluetoothBase

/// A service found on a server (Core 5.4, Vol 3, Part G, 3.1).
public struct DiscoveredService: Hashable, Sendable {
    public var uuid: BluetoothUUID
    /// The handle of the service's declaration.
    public var startHandle: AttributeHandle
    /// The last handle that belongs to the service.
    public var endHandle: AttributeHandle
    /// False for a secondary service, which is only of use if another one includes it.
    public var isPrimary: Bool

    @inlinable
    public init(
        uuid: BluetoothUUID, startHandle: AttributeHandle, endHandle: AttributeHandle, isPrimary: Bool = true
    ) {
        self.uuid = uuid
        self.startHandle = startHandle
        self.endHandle = endHandle
        self.isPrimary = isPrimary
    }
}

/// An include declaration found on a server (Core 5.4, Vol 3, Part G, 3.2).
public struct DiscoveredInclude: Hashable, Sendable {
    /// The handle of the include declaration itself.
    public var declarationHandle: AttributeHandle
    /// The handle of the included service's declaration.
    public var startHandle: AttributeHandle
    /// The last handle that belongs to the included service.
    public var endHandle: AttributeHandle
    public var uuid: BluetoothUUID

    @inlinable
    public init(
        declarationHandle: AttributeHandle, startHandle: AttributeHandle, endHandle: AttributeHandle,
        uuid: BluetoothUUID
    ) {
        self.declarationHandle = declarationHandle
        self.startHandle = startHandle
        self.endHandle = endHandle
        self.uuid = uuid
    }
}

/// A characteristic found on a server (Core 5.4, Vol 3, Part G, 3.3).
public struct DiscoveredCharacteristic: Hashable, Sendable {
    public var uuid: BluetoothUUID
    public var declarationHandle: AttributeHandle
    public var valueHandle: AttributeHandle
    /// The last handle that belongs to the characteristic: that of its last descriptor if it has any.
    public var endHandle: AttributeHandle
    public var properties: GATTCharacteristicProperties

    @inlinable
    public init(
        uuid: BluetoothUUID, declarationHandle: AttributeHandle, valueHandle: AttributeHandle,
        endHandle: AttributeHandle, properties: GATTCharacteristicProperties
    ) {
        self.uuid = uuid
        self.declarationHandle = declarationHandle
        self.valueHandle = valueHandle
        self.endHandle = endHandle
        self.properties = properties
    }
}

/// A characteristic descriptor found on a server (Core 5.4, Vol 3, Part G, 3.3.3).
public struct DiscoveredDescriptor: Hashable, Sendable {
    public var uuid: BluetoothUUID
    public var handle: AttributeHandle

    @inlinable
    public init(uuid: BluetoothUUID, handle: AttributeHandle) {
        self.uuid = uuid
        self.handle = handle
    }
}

/// The value of one attribute, to write or as read.
public struct AttributeValue: Equatable, Sendable {
    public var handle: AttributeHandle
    public var value: [UInt8]

    @inlinable
    public init(handle: AttributeHandle, value: [UInt8]) {
        self.handle = handle
        self.value = value
    }
}
