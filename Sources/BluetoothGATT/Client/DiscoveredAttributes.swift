import BluetoothATT
import BluetoothBase

/// A service found on a server (Core 5.4, Vol 3, Part G, 3.1).
public struct DiscoveredService: Hashable, Sendable {
    /// The UUID of the service, from the value of its declaration.
    public var uuid: BluetoothUUID
    /// The handle of the service's declaration.
    public var startHandle: AttributeHandle
    /// The last handle that belongs to the service.
    public var endHandle: AttributeHandle
    /// False for a secondary service, which is only useful if another service includes it.
    public var isPrimary: Bool

    /// Creates a service with its handle range. The order of the two handles is not checked.
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
    /// The UUID of the included service.
    public var uuid: BluetoothUUID

    /// Creates an include declaration. The handles are not checked.
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
    /// The UUID of the characteristic, from its declaration.
    public var uuid: BluetoothUUID
    /// The handle of the characteristic declaration.
    public var declarationHandle: AttributeHandle
    /// The handle of the characteristic value.
    public var valueHandle: AttributeHandle
    /// The last handle that belongs to the characteristic: that of its last descriptor if it has any.
    public var endHandle: AttributeHandle
    /// The permitted uses of the value, from the declaration.
    public var properties: GATTCharacteristicProperties

    /// Creates a characteristic with its handles, which are not checked.
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
    /// The type of the descriptor.
    public var uuid: BluetoothUUID
    /// The handle of the descriptor.
    public var handle: AttributeHandle

    /// Creates a descriptor at a handle.
    @inlinable
    public init(uuid: BluetoothUUID, handle: AttributeHandle) {
        self.uuid = uuid
        self.handle = handle
    }
}

/// The value of one attribute that is read, written or sent in a notification.
public struct AttributeValue: Equatable, Sendable {
    /// The handle of the attribute.
    public var handle: AttributeHandle
    /// The octets of the value.
    public var value: [UInt8]

    /// Creates the value of the attribute at `handle`. Its length is not checked.
    @inlinable
    public init(handle: AttributeHandle, value: some Collection<UInt8>) {
        self.handle = handle
        self.value = Array(value)
    }
}
