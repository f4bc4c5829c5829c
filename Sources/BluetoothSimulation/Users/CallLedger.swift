import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost
import BluetoothUsers

/// The calls of a user that have not ended, with the information needed to check each.
struct CallLedger {
    struct Call {
        var kind: Scenario.Action.Kind
        /// The time at which the call was made.
        var instant = Instant.zero
        /// The batch of events during which the call was made.
        var batch = 0
        /// The link that the call uses.
        var link: LinkIdentifier?
        /// Whether the call was cancelled, or its link released, so that it may end with `.cancelled`.
        var isCancelled = false
        /// Whether the call has its own time limit.
        var hasTimeout = false
        /// Whether the call continues after `.done`, like a scan, an advertisement or a subscription.
        var isStanding = false
        /// The value handle of a subscription.
        var handle: AttributeHandle?
        /// The characteristic of a subscription.
        var characteristic: SimulatedService.Characteristic?
        /// The end that the call must have.
        var expectation: ExpectedEnd?
        /// The writes and reads of a peer's stored value by this call.
        var stored: [ScenarioRun.StoredUse] = []
        /// The time by which the call must end, if it has a time limit.
        var deadline: Instant?
        /// The peer of a bond to be removed.
        var bondedPeer: Int?
        /// The value that the call writes to a Client Characteristic Configuration directly.
        var configuration: GATTClientConfiguration?
        /// The number of changes of the peer's services when the call was made.
        var epoch: Int?
        /// Whether the peer's service is withdrawn as soon as this discovery has ended.
        var isFollowedByChange = false
        /// Whether the handle is from before a change of the peer's services that had been reported when the call was
        /// made.
        var isOutdated = false
        /// The identity of the indicated value.
        var indicated: SimulatedValue.Place?
        /// Whether the call publishes the service with that subscription.
        var isConfigurable = false
        /// Whether the channels to open are for a service that no peer offers.
        var isForNobody = false
        /// The periodic advertising to synchronize to.
        var train: Train?
        /// Whether the connection request is sent in a subevent.
        var isInSubevent = false
        /// Whether the scan is restricted to devices with the simulated service.
        var isForService = false
    }

    private(set) var open: [CallToken: Call] = [:]
    /// Scans, advertisements and subscriptions that are active.
    private(set) var standing: [CallToken: Call] = [:]
    /// Scans that were cancelled. No event reports when the cancellation is done.
    private var cancelledScans: [CallToken: Call] = [:]

    mutating func begin(_ call: Call, _ token: CallToken, at now: Instant, in batch: Int) {
        open[token] = call
        open[token]?.instant = now
        open[token]?.batch = batch
    }

    /// Adds a call that is active without a result to wait for.
    mutating func stand(_ call: Call, _ token: CallToken) { standing[token] = call }

    mutating func end(_ token: CallToken) -> Call? {
        if let call = open.removeValue(forKey: token) { return call }
        // An active scan may fail, even just before it is cancelled.
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

    /// Tokens in a fixed order, because the order of a dictionary differs from run to run.
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
