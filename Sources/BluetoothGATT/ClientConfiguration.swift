/// What a client asked for in a Client Characteristic Configuration descriptor (Core 5.4, Vol 3, Part G, 3.3.3.3).
public struct GATTClientConfiguration: OptionSet, Hashable, Sendable {
    public var rawValue: UInt16

    @inlinable
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    @inlinable public static var notifications: Self { .init(rawValue: 0x0001) }
    @inlinable public static var indications: Self { .init(rawValue: 0x0002) }

    /// The defined bits; the others are reserved and ignored.
    static var known: Self { [.notifications, .indications] }
}
