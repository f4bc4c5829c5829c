/// A channel that is there as long as its link, with the same identifier on both sides: how its frames are laid down
/// (Core 5.4, Vol 3, Part A, 2.1 and 3.1).
///
/// A frame is written once. Whoever sends leaves `headroom` in front of the payload, and fills it in with `L2CAPFrame.header` when
/// the payload is there and its length known.
public struct FixedChannel: Hashable, Sendable {
    /// Both sides' endpoint.
    public let identifier: ChannelIdentifier

    /// The Attribute Protocol's channel.
    @inlinable public static var attributeProtocol: FixedChannel { FixedChannel(.attributeProtocol) }
    /// The channel of L2CAP's own signalling on LE links.
    @inlinable public static var leSignalling: FixedChannel { FixedChannel(.leSignalling) }
    /// The Security Manager's channel on LE links.
    @inlinable public static var securityManager: FixedChannel { FixedChannel(.securityManager) }

    @inlinable
    init(_ identifier: ChannelIdentifier) { self.identifier = identifier }

    /// How many octets a frame needs in front of its payload. All fixed channels of an LE link use basic frames.
    @inlinable public static var headroom: Int { L2CAPFrame.headerLength }
}
