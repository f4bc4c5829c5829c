import BluetoothAdapter
import BluetoothBase
import BluetoothHost
import BluetoothUsers

/// The environment that a user's parts share: its station, the clock, random bits, its links, the adapter to which it
/// posts calls, and the calls that have not ended.
final class UserContext {
    let run: ScenarioRun
    let station: Int
    let number: Int
    /// Whether the user publishes the service of its station.
    let isPublisher: Bool
    let links = UserLinks()

    private(set) var calls = CallLedger()
    private(set) var callCount = 0
    private(set) var status = AdapterStatus.opening
    private(set) var isAttached = false
    private(set) var joinedAt = Instant.zero
    /// The number of event batches so far.
    private(set) var batch = 0
    /// Whether the world is coming to rest.
    private(set) var isCalm = false
    private var user = UserID(number: 0)
    private var generator: SeededGenerator

    init(_ run: ScenarioRun, station: Int, number: Int) {
        self.run = run
        self.station = station
        self.number = number
        isPublisher = number == 0
        generator = SeededGenerator(seed: run.world.order.next())
    }

    // MARK: - Lifetime

    private var runner: AdapterRunner { run.runners[station] }

    func attach(_ observer: any AdapterObserver) {
        isAttached = true
        joinedAt = run.world.now
        status = .opening
        user = runner.attach(observer)
    }

    func detach() {
        isAttached = false
        runner.detach(user)
        calls.removeAll()
        links.removeAll()
    }

    func note(_ status: AdapterStatus) { self.status = status }

    func comeToRest() { isCalm = true }

    /// Counts a batch of events. Returns false if it belongs to another user, or if this user has left.
    func begin(_ batch: borrowing EventBatch) -> Bool {
        guard isAttached, batch.user == user || user.number == 0 else { return false }
        self.batch += 1
        return true
    }

    // MARK: - Calls

    @discardableResult
    func post(_ kind: HostCall.Kind, _ call: CallLedger.Call, knownChanges: UInt32? = nil) -> CallToken {
        let token = runner.makeToken()
        callCount += 1
        calls.begin(call, token, at: run.world.now, in: batch)
        if !runner.post(kind, token: token, from: user, knownChanges: knownChanges) { _ = calls.end(token) }
        return token
    }

    func post(_ kind: HostCall.Kind, token: CallToken = .none) {
        callCount += 1
        runner.post(kind, token: token, from: user)
    }

    /// Posts a call that is active immediately, such as a scan.
    func postStanding(_ kind: HostCall.Kind, _ call: CallLedger.Call) {
        let token = runner.makeToken()
        calls.stand(call, token)
        post(kind, token: token)
    }

    /// Cancels a call.
    func callOff(_ token: CallToken) {
        calls.cancel(token)
        post(.cancel, token: token)
    }

    /// Cancels the first call that matches.
    func callOffFirst(where isMeant: (CallLedger.Call) -> Bool) {
        guard let token = calls.tokens(where: isMeant).first else { return }
        callOff(token)
    }

    /// Ends a call.
    func end(_ token: CallToken) -> CallLedger.Call? { calls.end(token) }

    /// Notes that a call has succeeded and remains active.
    func stand(_ call: CallLedger.Call, _ token: CallToken) { calls.stand(call, token) }

    /// Notes that a call is over for the host, or will be because of another call.
    func noteCancelled(_ token: CallToken) { calls.cancel(token) }

    func noteCancelled(where isMeant: (CallLedger.Call) -> Bool) { calls.cancelAll(where: isMeant) }

    // MARK: - Time and chance

    var now: Instant { run.world.now }

    func schedule(after delay: Duration, _ body: @escaping () -> Void) {
        run.world.schedule(at: run.world.now.advanced(by: delay), body)
    }

    /// Draws from the user's own random bits.
    func draw<Value>(_ body: (inout SeededGenerator) -> Value) -> Value { body(&generator) }

    // MARK: - Facts

    func fail(_ rule: Violation.Rule, _ text: String) {
        run.world.fail(rule, "user \(number): \(text)", at: run.world.station(station))
    }

    /// Whether a request on a link may time out, because one of the two stations has faults or stopped receiving.
    func mayTimeOut(_ link: LinkIdentifier) -> Bool {
        guard let peer = links[link]?.peer else { return true }
        return [station, peer].contains { run.hasFaults($0) || run.hasHeld.contains($0) }
    }

    /// Draws another station.
    func drawPeer(_ pick: inout SeededGenerator) -> Int {
        (station + 1 + pick.below(run.world.stationCount - 1)) % run.world.stationCount
    }

    /// The station with the next index.
    var nextStation: Int { (station + 1) % run.world.stationCount }
}
