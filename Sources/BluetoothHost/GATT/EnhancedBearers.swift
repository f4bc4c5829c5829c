import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothL2CAP

/// The enhanced ATT bearers of a link, and how far this host is in asking the peer for some (Core 5.4, Vol 3, Part F, 3.2.11
/// and Part G, 5.3 and 5.4).
struct EnhancedBearers: Sendable {
    /// What this host does to get bearers: once for each link, while it is encrypted.
    enum Step: Equatable, Sendable {
        /// Nothing yet: the link is not encrypted, or nobody uses the peer's server.
        case idle
        /// Server Supported Features are being read: has the peer bearers at all?
        case readingServerFeatures
        /// Client Supported Features are being read, before this host adds its own.
        case readingClientFeatures
        case writingClientFeatures
        /// The peer was asked for a channel.
        case opening
        /// Both sides asked at once, and neither had room for the other: the peer is asked again at the deadline.
        case waiting
        case done
    }

    /// The channels of the open bearers, oldest first. A bearer has the name of its channel.
    private(set) var bearers: [CreditBasedChannel.ID] = []
    var step = Step.idle
    /// Whether the caller has used the peer's server on this link: bearers are of use for that.
    var isClientUsed = false
    /// The operation of the host's own that `step` waits for, and what became of it.
    private(set) var operation: GATTClient.OperationID?
    private(set) var ended: Result<GATTClientResult, GATTClientError>?
    /// The channel that the peer was asked for and has not answered about.
    var requested: CreditBasedChannel.ID?
    /// Whether both sides asked for channels at the same time, and the peer had no room for ours.
    var hasPeerAsked = false
    var hasPeerRefused = false
    /// How many channels the peer was asked for.
    private(set) var requestCount = 0
    var deadline: Instant?
    /// A bearer on which a peer asks so much, and takes so little, that its answers do not fit any more.
    var overwhelmed: CreditBasedChannel.ID?

    /// How many more bearers a peer is asked for than there may be, where both sides ask at once.
    static let maximumCollisions = 2

    /// How many more of `limit` there may be.
    func room(of limit: Int) -> Int { max(0, limit - bearers.count - (requested == nil ? 0 : 1)) }

    /// The peer was asked for a channel.
    mutating func asked(for channel: CreditBasedChannel.ID) {
        requested = channel
        requestCount += 1
        (hasPeerAsked, hasPeerRefused) = (false, false)
        step = .opening
    }

    mutating func add(_ channel: CreditBasedChannel.ID) { bearers.append(channel) }
    mutating func remove(_ channel: CreditBasedChannel.ID) { bearers.removeAll { $0 == channel } }

    /// An operation of the host's own has begun.
    mutating func began(_ operation: GATTClient.OperationID, _ step: Step) {
        self.operation = operation
        self.step = step
    }

    /// It has ended.
    mutating func operationEnded(_ end: GATTClientEvent) {
        operation = nil
        switch end {
        case .completed(_, let result): ended = .success(result)
        case .failed(_, let error): ended = .failure(error)
        }
    }

    /// What became of it, once.
    mutating func takeEnded() -> Result<GATTClientResult, GATTClientError>? {
        defer { ended = nil }
        return ended
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
