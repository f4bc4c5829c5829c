import BluetoothATT

/// The handles of a service in the database.
public struct GATTServiceHandles: Equatable, Sendable {
    /// The service declaration.
    public var declaration: AttributeHandle
    /// The last handle of the service: that of its last attribute, or one reserved behind it.
    public var end: AttributeHandle
    /// The include declarations, in the order of the definition.
    public var includes: [AttributeHandle]
    /// The characteristics, in the order of the definition.
    public var characteristics: [GATTCharacteristicHandles]

    /// Every handle of the service: the range a Service Changed indication names (Core 5.4, Vol 3, Part G, 7.1).
    public var range: ClosedRange<AttributeHandle> { declaration...end }
}

/// The handles of a characteristic in the database.
public struct GATTCharacteristicHandles: Equatable, Sendable {
    public var declaration: AttributeHandle
    public var value: AttributeHandle
    /// The Client Characteristic Configuration descriptor; nil if there is none.
    public var clientConfiguration: AttributeHandle?
    /// The descriptors of the definition, in its order.
    public var descriptors: [AttributeHandle]
}
