import BluetoothGATT
import BluetoothL2CAP

/// The enhanced ATT bearers of a link that are open. Either side may have asked for them: see `BearerNegotiation`.
struct EnhancedBearers: Hashable, Sendable {
    /// The channels of the bearers, oldest first. A bearer has the name of its channel.
    private(set) var bearers: [CreditBasedChannel.ID] = []
    /// A bearer on which a peer asks so much, and takes so little, that its answers do not fit any more.
    private var overwhelmed: CreditBasedChannel.ID?

    @inline(__always)
    var isOverwhelmed: Bool { overwhelmed != nil }

    mutating func add(_ channel: CreditBasedChannel.ID) { bearers.append(channel) }
    mutating func remove(_ channel: CreditBasedChannel.ID) { bearers.removeAll { $0 == channel } }

    /// The answers on a bearer do not fit any more.
    mutating func overwhelm(_ channel: CreditBasedChannel.ID) { overwhelmed = channel }

    /// The bearer to close because its answers do not fit, once; nil where it was closed meanwhile.
    mutating func takeOverwhelmed() -> CreditBasedChannel.ID? {
        defer { overwhelmed = nil }
        return overwhelmed.flatMap { bearers.contains($0) ? $0 : nil }
    }
}

extension AttributeChannel.ID {
    /// The enhanced bearer on a channel.
    @inline(__always)
    init(_ channel: CreditBasedChannel.ID) { self.init(rawValue: channel.rawValue) }

    /// The channel of an enhanced bearer; for the fixed channel one that there is not.
    @inline(__always)
    var channel: CreditBasedChannel.ID { CreditBasedChannel.ID(rawValue: rawValue) }
}
