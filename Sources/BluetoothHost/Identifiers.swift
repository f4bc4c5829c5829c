/// Names one link for as long as the host lives: an identifier is never used again, so that a late call meets
/// "no such link", not somebody else's link.
public struct LinkIdentifier: Hashable, Sendable {
    package let slot: UInt16
    let generation: UInt32
}

/// Names one attempt to connect.
public struct ConnectionAttempt: Hashable, Sendable {
    let number: UInt32
}

/// Names a request to the controller that is answered by an event.
public struct RequestIdentifier: Hashable, Sendable {
    let number: UInt32
}

extension LinkIdentifier: CustomStringConvertible {
    public var description: String { "link \(slot).\(generation)" }
}
