/// The value of a Client Characteristic Configuration descriptor, with which a client subscribes (Core 5.4, Vol 3, Part
/// G, 3.3.3.3).
public struct GATTClientConfiguration: OptionSet, Hashable, Sendable {
    /// The two octets of the descriptor's value, as a number.
    public var rawValue: UInt16

    /// Creates a configuration from the value of the descriptor. Reserved bits are kept.
    @inlinable
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The client receives notifications of the value.
    @inlinable public static var notifications: Self { .init(rawValue: 0x0001) }
    /// The client receives indications of the value, and confirms them.
    @inlinable public static var indications: Self { .init(rawValue: 0x0002) }

    /// The defined bits; the others are reserved and ignored.
    static var known: Self { [.notifications, .indications] }
}
