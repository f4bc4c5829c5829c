import BluetoothATT

/// The handles of a service in the database.
public struct GATTServiceHandles: Equatable, Sendable {
    /// The service declaration.
    public var declaration: AttributeHandle
    /// The last attribute of the service.
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
    /// The Client Characteristic Configuration descriptor, if the characteristic can notify or indicate.
    public var clientConfiguration: AttributeHandle?
    /// The descriptors of the definition, in its order.
    public var descriptors: [AttributeHandle]
}

/// Why a database refused a change or a look-up.
public enum GATTDatabaseError: Error, Equatable, Sendable {
    /// Handle 0 is reserved.
    case invalidHandle
    /// There is no run of `count` free handles, or not at the requested handle.
    case noRoom(count: Int)
    /// There is no service, or no attribute, at this handle.
    case notFound(AttributeHandle)
    /// A value is longer than `maximum` octets.
    case valueTooLong(maximum: Int)
    /// The database does not keep the value, or its fixed length differs.
    case valueNotSettable(AttributeHandle)
}
