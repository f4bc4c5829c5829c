/// What this device takes on a credit-based channel.
public struct ChannelParameters: Hashable, Sendable {
    /// The longest SDU, in octets.
    public var mtu: UInt16
    /// The longest payload of one K-frame, in octets.
    public var mps: UInt16
    /// How many K-frames the peer may send before the reader has taken any: its initial credits, 1 or more. What waits for
    /// the reader is never more than this many K-frames of the longest MPS that the channel has had, and one SDU. Each SDU
    /// counts as one K-frame of the first MPS or more.
    public var window: UInt16

    /// By default K-frames that fit one packet of the link layer each, and sixteen kilobytes of them on their way.
    public init(mtu: UInt16 = 2048, mps: UInt16 = 247, window: UInt16 = 64) {
        self.mtu = mtu
        self.mps = mps
        self.window = window
    }

    /// How many SDUs wait for the reader at most, even if the channel is reconfigured to K-frames of `longestMPS`.
    public func greatestWaitingCount(longestMPS: UInt16) -> Int {
        let mps = max(1, Int(mps))
        return Int(window) * max(1, (Int(longestMPS) + mps - 1) / mps)
    }

    func isValid(for kind: CreditBasedChannel.Kind) -> Bool { kind.allows(mtu: mtu, mps: mps) && window > 0 }
}

/// What a device says to a peer that asks for a channel.
public enum ChannelAdmission: Hashable, Sendable {
    /// With what this device takes, and how many more channels of the service there may be.
    case accepted(ChannelParameters, limit: Int)
    case refused(CreditBasedConnectionResult)
}

extension ChannelAdmission {
    /// As many channels as the peer asks for.
    public static func accepted(_ parameters: ChannelParameters) -> ChannelAdmission {
        .accepted(parameters, limit: .max)
    }
}

extension CreditBasedChannel.Kind {
    /// The least MTU and MPS (Core 5.4, Vol 3, Part A, 4.22 and 4.25).
    public var leastLength: UInt16 {
        switch self {
        case .leCreditBased: 23
        case .enhanced: 64
        }
    }

    /// The greatest MPS: a K-frame of it and the SDU length fit an L2CAP length field.
    public static let greatestMPS: UInt16 = 65533

    func allows(mtu: UInt16, mps: UInt16) -> Bool {
        mtu >= leastLength && (leastLength...Self.greatestMPS).contains(mps)
    }
}
