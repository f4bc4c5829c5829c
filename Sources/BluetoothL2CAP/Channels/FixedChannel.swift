/// A channel that exists as long as its link, with the same identifier on both sides: the layout of its frames (Core
/// 5.4, Vol 3, Part A, 2.1 and 3.1).
///
/// A frame is written once. The sender leaves `headroom` before the payload, and fills it in with `L2CAPFrame.header`
/// once the payload is written and its length known.
public struct FixedChannel: Hashable, Sendable {
    /// The endpoint on both sides.
    public let identifier: ChannelIdentifier

    /// The Attribute Protocol's channel.
    @inlinable public static var attributeProtocol: FixedChannel { FixedChannel(.attributeProtocol) }
    /// The channel of L2CAP's own signalling on LE links.
    @inlinable public static var leSignalling: FixedChannel { FixedChannel(.leSignalling) }
    /// The Security Manager's channel on LE links.
    @inlinable public static var securityManager: FixedChannel { FixedChannel(.securityManager) }

    @inlinable
    init(_ identifier: ChannelIdentifier) { self.identifier = identifier }

    /// The number of octets that a frame needs before its payload. All fixed channels of an LE link use basic frames.
    @inlinable public static var headroom: Int { L2CAPFrame.headerLength }
}
