import BluetoothATT

/// Why a database refused a change or a lookup.
@nonexhaustive
public enum GATTDatabaseError: Error, Equatable, Sendable {
    /// Handle 0 is reserved.
    case invalidHandle
    /// No run of `count` free handles is left, or the attributes do not fit up to handle 0xFFFF.
    case noRoom(count: Int)
    /// The service needs this handle, which belongs to another service.
    case handleInUse(AttributeHandle)
    /// A definition names a handle that is not above the handle of the attribute before it.
    case handleOutOfOrder(AttributeHandle, after: AttributeHandle)
    /// The end handle of a definition is before the last attribute of the service.
    case endBeforeLastAttribute(end: AttributeHandle, last: AttributeHandle)
    /// No service, or no attribute, has this handle.
    case notFound(AttributeHandle)
    /// The service at this handle cannot be removed while the service at `by` includes it: an include declaration must
    /// name a service that exists (Core 5.4, Vol 3, Part G, 3.2).
    case included(AttributeHandle, by: AttributeHandle)
    /// A value is longer than `maximum` octets.
    case valueTooLong(maximum: Int)
    /// The database does not keep the value, or the value has a fixed length that differs.
    case valueNotSettable(AttributeHandle)
}

extension GATTDatabaseError: CustomStringConvertible {
    /// The reason in English, such as `handle 0x0010 belongs to another service`.
    public var description: String {
        switch self {
        case .invalidHandle: "handle 0x0000 is reserved; the first is 0x0001"
        case .noRoom(let count): "there is no room for \(count) attributes up to handle 0xFFFF"
        case .handleInUse(let handle): "handle \(handle) belongs to another service"
        case .handleOutOfOrder(let handle, let previous):
            "handle \(handle) is not above \(previous), the handle of the attribute before it"
        case .endBeforeLastAttribute(let end, let last):
            "the service ends at handle \(end), before its last attribute, \(last)"
        case .notFound(let handle): "no service or attribute has the handle \(handle)"
        case .included(let handle, let other):
            "the service at handle \(handle) is included by the one at \(other); remove that first, or both together"
        case .valueTooLong(let maximum): "the value is longer than the \(maximum) octets allowed"
        case .valueNotSettable(let handle):
            "the value at handle \(handle) is not stored in the database, or has another fixed length"
        }
    }
}
