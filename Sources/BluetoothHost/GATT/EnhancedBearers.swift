import BluetoothGATT
import BluetoothL2CAP

/// The open enhanced ATT bearers of a link. Either side may have requested them: see `BearerNegotiation`.
struct EnhancedBearers: Hashable, Sendable {
    /// The channels of the bearers, oldest first. A bearer is identified by its channel.
    private(set) var bearers: [CreditBasedChannel.ID] = []
    /// A bearer whose responses no longer fit, because the peer sends many requests and receives few of the responses.
    private var overwhelmed: CreditBasedChannel.ID?

    @inline(__always)
    var isOverwhelmed: Bool { overwhelmed != nil }

    mutating func add(_ channel: CreditBasedChannel.ID) { bearers.append(channel) }
    mutating func remove(_ channel: CreditBasedChannel.ID) { bearers.removeAll { $0 == channel } }

    /// Notes that the responses on a bearer no longer fit.
    mutating func overwhelm(_ channel: CreditBasedChannel.ID) { overwhelmed = channel }

    /// Returns the bearer to close because its responses no longer fit, and clears it; nil if it has already been
    /// closed.
    mutating func takeOverwhelmed() -> CreditBasedChannel.ID? {
        defer { overwhelmed = nil }
        return overwhelmed.flatMap { bearers.contains($0) ? $0 : nil }
    }
}

extension AttributeChannel.ID {
    /// The enhanced bearer on a channel.
    @inline(__always)
    init(_ channel: CreditBasedChannel.ID) { self.init(rawValue: channel.rawValue) }

    /// The channel of an enhanced bearer. For the fixed channel, the identifier of a channel that does not exist.
    @inline(__always)
    var channel: CreditBasedChannel.ID { CreditBasedChannel.ID(rawValue: rawValue) }
}
