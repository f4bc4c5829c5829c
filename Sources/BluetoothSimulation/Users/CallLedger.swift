import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost
import BluetoothUsers

/// The calls of a user that have not ended, and what is known of each.
struct CallLedger {
    struct Call {
        var kind: Scenario.Action.Kind
        /// When it was made.
        var instant = Instant.zero
        /// The batch of events in which it was made.
        var batch = 0
        /// The link it is about.
        var link: LinkIdentifier?
        /// It was called off, or its link released: it may end with `.cancelled`.
        var isCancelled = false
        /// It has a time limit of its own.
        var hasTimeout = false
        /// It goes on after `.done`, as a scan, an advertisement or a subscription.
        var isStanding = false
        /// The handle of the value that a subscription is to.
        var handle: AttributeHandle?
        /// What a subscription is to.
        var characteristic: SimulatedService.Characteristic?
        /// What must come of it.
        var expectation: ExpectedEnd?
        /// What it does to, or reads of, the stored value of a peer.
        var stored: [ScenarioRun.StoredUse] = []
        /// When it has to be over, where it has a time limit.
        var deadline: Instant?
        /// For the removal of a bond: the peer.
        var bondedPeer: Int?
        /// What it writes to a subscription by itself.
        var configuration: GATTClientConfiguration?
        /// How often the peer's services had changed when it was made.
        var epoch: Int?
        /// Of a discovery: whether the peer's service goes as soon as it has ended.
        var isFollowedByChange = false
        /// Whether its handle is from before a change of the peer's services that was reported when it was made.
        var isOutdated = false
        /// The value that it indicates.
        var indicated: SimulatedValue.Place?
        /// Whether it publishes the service with that subscription.
        var isConfigurable = false
        /// Of channels to open: whether nobody offers the service.
        var isForNobody = false
        /// Of periodic advertising to be received: whose it is.
        var train: Train?
        /// Of a connection: whether the peer is asked in a subevent.
        var isInSubevent = false
        /// Of a scan: whether it is for devices with the simulated service alone.
        var isForService = false
    }

    private(set) var open: [CallToken: Call] = [:]
    /// Scans, advertisements and subscriptions that have begun.
    private(set) var standing: [CallToken: Call] = [:]
    /// Scans that were called off: nothing says when that has been done.
    private var cancelledScans: [CallToken: Call] = [:]

    mutating func begin(_ call: Call, _ token: CallToken, at now: Instant, in batch: Int) {
        open[token] = call
        open[token]?.instant = now
        open[token]?.batch = batch
    }

    /// What stands without a result to wait for.
    mutating func stand(_ call: Call, _ token: CallToken) { standing[token] = call }

    mutating func end(_ token: CallToken) -> Call? {
        if let call = open.removeValue(forKey: token) { return call }
        // A scan that stands may fail, also just before it is called off.
        if let scan = cancelledScans.removeValue(forKey: token) { return scan }
        guard standing[token]?.kind == .scan else { return nil }
        return standing.removeValue(forKey: token)
    }

    mutating func cancel(_ token: CallToken) {
        open[token]?.isCancelled = true
        if standing[token]?.kind == .scan { cancelledScans[token] = standing[token] }
        standing[token] = nil
    }

    mutating func cancelAll(where isMeant: (Call) -> Bool) {
        for (token, call) in open where isMeant(call) { open[token]?.isCancelled = true }
        standing = standing.filter { !isMeant($0.value) }
    }

    /// Tokens in a fixed order: that of a dictionary differs from run to run.
    func tokens(where isMeant: (Call) -> Bool) -> [CallToken] {
        (open.merging(standing) { call, _ in call }).filter { isMeant($0.value) }.keys
            .sorted { $0.rawValue < $1.rawValue }
    }

    func hasOpen(where isMeant: (Call) -> Bool) -> Bool { open.values.contains(where: isMeant) }

    mutating func removeAll() {
        open = [:]
        standing = [:]
        cancelledScans = [:]
    }
}
