extension BluetoothError: CustomStringConvertible {
    /// One line that says what happened, and what to do where something can be done.
    public var description: String {
        switch self {
        case .transport(let error): "\(error)"
        case .adapter(let failure): "\(failure)"
        case .adapterClosed: "the adapter has been closed; open it again"
        case .adapterRemoved: "the adapter is gone; plug it in again, or start what it is reached through"
        case .disconnected(let reason): "disconnected: \(reason)"
        case .timedOut: "timed out"
        case .cancelled: "cancelled"
        case .att(let error): "the peer refused: \(error)"
        case .host(let error): "\(error)"
        case .gatt(let error): "the GATT client failed: \(error)"
        case .notFound(let uuid): "the peer has no attribute with the UUID \(uuid)"
        case .notSupported(let what): what
        case .valueTooLong(let maximum): "the value is too long: at most \(maximum) octets fit"
        case .malformedValue(let uuid, let failure):
            "the peer's value of \(uuid) is malformed, \(failure); read it as bytes to see what it is"
        case .invalidDefinition(let why): "the service cannot be published: \(why)"
        case .advertisingDataTooLong(let why): "the advertising data is too long: \(why)"
        case .overflow: "values came faster than they were taken; take them without doing other work between"
        case .messageIncomplete(let count, let reason): "the message broke off after \(count) octets: \(reason)"
        case .messageTooLong(let maximum): "the message is longer than the \(maximum) octets allowed"
        }
    }
}
