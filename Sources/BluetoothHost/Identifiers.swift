/// Identifies one link for the lifetime of the host. Identifiers are not reused, so that a late call fails with
/// `HostError.noSuchLink` instead of affecting a different link.
public struct LinkIdentifier: Hashable, Sendable {
    package let slot: UInt16
    let generation: UInt32
}

/// Identifies one attempt to connect.
public struct ConnectionAttempt: Hashable, Sendable {
    let number: UInt32
}

/// Identifies a request to the controller that is answered by an event.
public struct RequestIdentifier: Hashable, Sendable {
    let number: UInt32
}

extension LinkIdentifier: CustomStringConvertible {
    /// The slot and the generation, such as `link 0.1`. No other link of the host has the same text.
    public var description: String { "link \(slot).\(generation)" }
}
