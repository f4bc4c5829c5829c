import BluetoothATT

/// What a link has shown about the Service Changed value of the peer's server (Core 5.4, Vol 3, Part G, 7.1).
enum PeerServiceChanged: Hashable, Sendable {
    case unknown
    /// The value has this handle. The peer may not indicate it yet.
    case found(AttributeHandle)
    /// The peer indicates the value with this handle.
    case watched(AttributeHandle)

    var handle: AttributeHandle? {
        switch self {
        case .unknown: nil
        case .found(let handle), .watched(let handle): handle
        }
    }

    /// The handle to keep with a bond. A handle that is only found must not be kept, because on the next link the peer
    /// would be expected to have indicated every change.
    var handleToKeep: AttributeHandle? {
        switch self {
        case .unknown, .found: nil
        case .watched(let handle): handle
        }
    }

    mutating func found(_ handle: AttributeHandle) {
        if self != .watched(handle) { self = .found(handle) }
    }

    mutating func watched() {
        if let handle { self = .watched(handle) }
    }
}
