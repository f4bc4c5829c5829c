import BluetoothATT

/// The handles of a service in the database.
public struct GATTServiceHandles: Equatable, Sendable {
    /// The service declaration.
    public var declaration: AttributeHandle
    /// The last handle of the service: that of its last attribute, or one reserved after it.
    public var end: AttributeHandle
    /// The include declarations, in the order of the definition.
    public var includes: [AttributeHandle]
    /// The characteristics, in the order of the definition.
    public var characteristics: [GATTCharacteristicHandles]

    /// All handles of the service: the range for a Service Changed indication (Core 5.4, Vol 3, Part G, 7.1).
    public var range: ClosedRange<AttributeHandle> { declaration...end }
}

/// The handles of a characteristic in the database.
public struct GATTCharacteristicHandles: Equatable, Sendable {
    /// The characteristic declaration.
    public var declaration: AttributeHandle
    /// The characteristic value, with which values are read, written and notified.
    public var value: AttributeHandle
    /// The Client Characteristic Configuration descriptor; nil if the characteristic has none.
    public var clientConfiguration: AttributeHandle?
    /// The descriptors of the definition, in order.
    public var descriptors: [AttributeHandle]
}
