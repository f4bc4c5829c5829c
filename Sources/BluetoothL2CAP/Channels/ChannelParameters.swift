/// The limits of what this device accepts on a credit-based channel.
public struct ChannelParameters: Hashable, Sendable {
    /// The longest SDU, in octets.
    public var mtu: UInt16
    /// The longest payload of one K-frame, in octets.
    public var mps: UInt16
    /// The number of K-frames that the peer may send before the reader has consumed any: its initial credits, 1 or
    /// more. The data waiting for the reader never exceeds this number of K-frames of the longest MPS that the channel
    /// has had, plus one SDU. Each SDU counts as at least one K-frame of the initial MPS.
    public var window: UInt16

    /// By default, K-frames that each fit in one link-layer packet, and a window of 63 kB. LE 2M takes about 0.35 s to
    /// transmit that. With connection intervals that are well below it, the peer does not wait for credits.
    public init(mtu: UInt16 = 2048, mps: UInt16 = 247, window: UInt16 = 256) {
        self.mtu = mtu
        self.mps = mps
        self.window = window
    }

    /// The maximum number of SDUs that wait for the reader, even if the channel is reconfigured to K-frames of
    /// `longestMPS`.
    public func greatestWaitingCount(longestMPS: UInt16) -> Int {
        let mps = max(1, Int(mps))
        return Int(window) * max(1, (Int(longestMPS) + mps - 1) / mps)
    }

    /// The share of the window that an SDU takes until the reader has consumed it, in octets: its length with the SDU
    /// length field, but at least one K-frame. The minimum limits the number of waiting SDUs.
    @inlinable @inline(__always)
    public func share(ofSDU length: Int) -> Int { Self.share(ofSDU: length, atLeast: Int(mps)) }

    @inlinable @inline(__always)
    static func share(ofSDU length: Int, atLeast least: Int) -> Int { max(length &+ 2, least) }

    /// Half of the window, in octets. The peer gets credits once the octets that it may send and those not consumed yet
    /// do not exceed this number. A reader that collects less than that before it reports it as consumed never blocks
    /// the peer.
    public var creditMark: Int { (Int(window) - max(1, Int(window) / 2)) * Int(mps) }

    func isValid(for kind: CreditBasedChannel.Kind) -> Bool { kind.allows(mtu: mtu, mps: mps) && window > 0 }
}

/// The answer to a peer that requests a channel.
public enum ChannelAdmission: Hashable, Sendable {
    /// The channel is accepted with these parameters. `limit` is the number of further channels of the service that are
    /// allowed.
    case accepted(ChannelParameters, limit: Int)
    case refused(CreditBasedConnectionResult)
}

extension ChannelAdmission {
    /// Accepts as many channels as the peer requests.
    public static func accepted(_ parameters: ChannelParameters) -> ChannelAdmission {
        .accepted(parameters, limit: .max)
    }
}

extension CreditBasedChannel.Kind {
    /// The minimum MTU and MPS (Core 5.4, Vol 3, Part A, 4.22 and 4.25).
    public var leastLength: UInt16 {
        switch self {
        case .leCreditBased: 23
        case .enhanced: 64
        }
    }

    /// The maximum MPS (Core 5.4, Vol 3, Part A, 4.22 and 4.25). With the SDU length before it, a payload of this
    /// length still fits the length field of an L2CAP frame.
    public static let greatestMPS: UInt16 = 65533

    func allows(mtu: UInt16, mps: UInt16) -> Bool {
        mtu >= leastLength && (leastLength...Self.greatestMPS).contains(mps)
    }
}
