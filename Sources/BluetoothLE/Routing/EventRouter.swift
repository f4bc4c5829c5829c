import BluetoothUsers
import DequeModule
import BluetoothATT
import BluetoothAdapter
import BluetoothBase
import BluetoothGAP
import BluetoothGATT
import BluetoothHost
import Synchronization

/// Routes each event of the adapter to the call, the sequence or the link it belongs to, and keeps the state of links.
///
/// It does not retain the application's `Adapter`, and outlives it while a sequence exists.
final class EventRouter: AdapterObserver {
    /// The destination of the events of a published attribute.
    struct Receiver {
        let queue: AsyncQueue<CharacteristicEvent>
        /// Whether peers may write the attribute without a response, in which case nobody else would notice a loss.
        let takesCommands: Bool
        /// The configuration of every peer if the characteristic does not allow subscriptions.
        let unconditional: GATTClientConfiguration
        /// Whether other services share the queue. It then continues after this attribute is removed.
        let isShared: Bool
    }

    /// The use of a slot of the link identifiers.
    enum LinkPlace {
        case unused
        case link(LinkState)
        /// The last link has ended. A caller that has just connected learns the reason.
        case ended(LinkIdentifier, BluetoothError)

        var link: LinkState? { if case .link(let link) = self { link } else { nil } }
    }

    struct State {
        weak var adapter: Adapter?
        var status = AdapterStatus.opening
        /// Indexed by the slots of the link identifiers.
        var places: [LinkPlace] = []
        var names = PeerNames()
        var receivers: [AttributeHandle: Receiver] = [:]
        /// The queues for channels that peers open, by SPSM.
        var channelQueues: [UInt16: AsyncQueue<L2CAPChannel>] = [:]
        var observers: [(number: Int, queue: AsyncQueue<AdapterEvent>)] = []
        var lastObserver = 0
        var advertising: CallToken?
        /// The queues in which callers wait for the ends of advertising sets.
        var advertisingSets: [CallToken: AsyncQueue<Never>] = [:]
        /// The queues for reports of periodic advertising.
        var syncs: [PeriodicSyncIdentifier: AsyncQueue<PeriodicAdvertisement>] = [:]
        /// The queues for events of the subevents of advertising sets.
        var subevents: [CallToken: AsyncQueue<PeriodicSubeventEvent>] = [:]
        /// The queue for requests for the key material of encrypted advertising data.
        var keyMaterialRequests: AsyncQueue<IncomingAuthorization>?
        /// The queue for the events of the pairing agent.
        var pairing: AsyncQueue<PairingEvent>?
        /// The pairing agent, if it provides out-of-band data.
        var outOfBandAgent: (any OutOfBandPairing)?
        var awaitingReadiness: [CallToken] = []
    }

    let runner: AdapterRunner
    let log: EventLog
    let calls = PendingCalls()
    let state = Mutex(State())
    private let user = Atomic<UInt32>(0)

    init(_ runner: AdapterRunner, _ log: EventLog) {
        self.runner = runner
        self.log = log
    }

    // MARK: - Calling

    /// Posts a call. Returns false if the adapter is closed.
    ///
    /// - Parameter knownChanges: see `HostCall.knownChanges`; nil for a call that concerns no attributes of the peer.
    @discardableResult
    func post(
        _ kind: HostCall.Kind, token: CallToken = .none, keepsOrder: Bool = true, knownChanges: UInt32? = nil
    ) -> Bool {
        runner.post(
            kind, token: token, from: UserID(number: user.load(ordering: .relaxed)), keepsOrder: keepsOrder,
            knownChanges: knownChanges)
    }

    /// Attaches this router to the runner as a user.
    func attach() {
        user.store(runner.attach(self).number, ordering: .relaxed)
        guard runner.isClosed else { return }
        // The runner may already be closed, in which case no event follows. Wait until the reason is known.
        runner.close {}
        shutDown(runner.failure ?? .adapterClosed)
    }

    /// Detaches this router from the runner.
    func detach() { runner.detach(UserID(number: user.load(ordering: .relaxed))) }

    /// Posts a call, and suspends the task until its result arrives or the task is cancelled.
    @discardableResult
    func call(
        _ kind: HostCall.Kind, publishing publication: PendingCalls.Publication? = nil, knownChanges: UInt32? = nil,
        isolation actor: isolated (any Actor)? = #isolation
    ) async throws(BluetoothError) -> CallResult {
        guard let token = calls.insert(.beginning(publication)) else { throw closure }
        // A caller that needs an order awaits one call before the next.
        return try await wait(as: token, isolation: actor) {
            self.post(kind, token: token, keepsOrder: false, knownChanges: knownChanges)
        }
    }

    /// Posts a call on a link. If the link has ended, throws the reason, also if it ends while the call is on its way.
    // Compiled into the caller, because each asynchronous call costs some 400 instructions.
    @inline(__always)
    @discardableResult
    func call(
        _ kind: HostCall.Kind, on link: LinkState, knownChanges: UInt32? = nil,
        isolation actor: isolated (any Actor)? = #isolation
    ) async throws(BluetoothError) -> CallResult {
        try check(link)
        do throws(BluetoothError) {
            return try await call(kind, knownChanges: knownChanges, isolation: actor)
        } catch {
            throw link.explained(error)
        }
    }

    /// Suspends the task until an event resumes the token.
    ///
    /// - Parameter begin: called when the task is suspended. It returns false if nothing will ever resume the token.
    @discardableResult
    func wait(
        as token: CallToken, isCall: Bool = true, isolation actor: isolated (any Actor)? = #isolation,
        _ begin: () -> Bool
    ) async throws(BluetoothError) -> CallResult {
        let result = await withTaskCancellationHandler(
            operation: {
                await withUnsafeContinuation(isolation: actor) { (waiter: PendingCalls.Waiter) in
                    if let error = calls.suspend(waiter, token) { return waiter.resume(returning: .failure(error)) }
                    if !begin() { resume(token, .failure(closure)) }
                    if calls.posted(token), isCall { post(.cancel, token: token) }
                }
            }, onCancel: { cancel(token, isCall) }, isolation: actor)
        return try result.get()
    }

    private func cancel(_ token: CallToken, _ isCall: Bool) {
        guard let (waiter, isPosted) = calls.cancel(token) else { return }
        if isPosted, isCall { post(.cancel, token: token) }
        waiter.resume(returning: .failure(.cancelled))
    }

    /// Resumes the call with this token. Returns false if the call no longer waits.
    @discardableResult
    func resume(_ token: CallToken, _ result: Result<CallResult, BluetoothError>) -> Bool {
        guard case .suspended(let waiter, _) = calls.take(token) else { return false }
        waiter.resume(returning: result)
        return true
    }

    /// Suspends the task until it has a credit.
    ///
    /// - Parameter end: returns the reason why there are no more credits.
    func waitForCredit(
        in line: CreditLine, for target: AttributeHandle? = nil, end: () -> BluetoothError?
    ) async throws(BluetoothError) {
        guard let token = calls.insert(.beginning(nil)) else { throw closure }
        try await wait(as: token, isCall: false) {
            switch line.wait(SuspendedSender(router: self, token: token, target: target)) {
            case .granted: resume(token, .success(.done))
            case .closed: resume(token, .failure(end() ?? closure))
            case .waits: break
            }
            return true
        }
    }

    /// A suspended call that waits for a credit.
    private struct SuspendedSender: CreditWaiter {
        let router: EventRouter
        let token: CallToken
        let target: AttributeHandle?

        // A cancelled call leaves its credit to the next waiter.
        func grant() -> Bool { router.resume(token, .success(.done)) }
        func fail(_ error: BluetoothError) { router.resume(token, .failure(error)) }
    }

    // MARK: - State

    /// The error that calls throw once the adapter is closed.
    var closure: BluetoothError { calls.closure ?? runner.failure ?? .adapterClosed }

    /// Throws the reason if the adapter cannot be used.
    func check() throws(BluetoothError) {
        if let closure = calls.closure { throw closure }
        switch state.withLock({ $0.status }) {
        case .ready, .resetting: return
        case .opening, .unavailable: throw .notReady
        case .lost: throw .adapterRemoved
        case .closed: throw closure
        }
    }

    /// Throws the reason if a link cannot be used.
    func check(_ link: LinkState) throws(BluetoothError) {
        guard let error = link.error else { return }
        try check()
        throw error
    }

    var links: [LinkState] { state.withLock { $0.places.compactMap(\.link) } }

    @inline(__always)
    func link(_ identifier: LinkIdentifier) -> LinkState? {
        state.withLock { state in
            let slot = Int(identifier.slot)
            guard slot < state.places.count, let link = state.places[slot].link, link.identifier == identifier else {
                return nil
            }
            return link
        }
    }

    /// The error of a link that has ended; without a reason if its slot has been used again.
    func end(of identifier: LinkIdentifier) -> BluetoothError {
        state.withLock { state in
            let slot = Int(identifier.slot)
            guard slot < state.places.count, case .ended(identifier, let error) = state.places[slot] else {
                return .disconnected(.unknown)
            }
            return error
        }
    }

    func connection(_ link: LinkState) -> Connection? {
        state.withLock { $0.adapter }.map { Connection(adapter: $0, link: link) }
    }

    // MARK: - The end

    /// Ends every call, link and sequence with `error`. Only the first reason counts.
    func shutDown(_ error: BluetoothError) {
        let entries = calls.close(error)
        let old = state.withLock { state -> State in
            defer {
                state.places = []
                state.receivers = [:]
                state.channelQueues = [:]
                state.advertisingSets = [:]
                state.syncs = [:]
                state.subevents = [:]
                state.keyMaterialRequests = nil
                state.observers = []
            }
            return state
        }
        for link in old.places.compactMap(\.link) {
            guard let rest = link.end(LinkState.End(reason: .adapterRemoved, error: error)) else { continue }
            finish(link, rest, error)
        }
        for entry in entries {
            switch entry {
            case .suspended(let waiter, _): waiter.resume(returning: .failure(error))
            case .scan(let queue): queue.finish(error)
            case .beginning, .cancelled, .session: break
            }
        }
        for receiver in old.receivers.values { receiver.queue.finish(error) }
        for queue in old.channelQueues.values { queue.finish(error) }
        for end in old.advertisingSets.values { end.finish(error) }
        for queue in old.syncs.values { queue.finish(error) }
        for queue in old.subevents.values { queue.finish(error) }
        old.keyMaterialRequests?.finish(error)
        for observer in old.observers { observer.queue.finish(error) }
    }

    /// Ends everything on a link.
    func finish(_ link: LinkState, _ rest: LinkState.State, _ error: BluetoothError) {
        for sender in link.credits.close().waiters { sender.fail(error) }
        for listener in rest.listeners + rest.comingListeners { listener.queue.finish(error) }
        for session in rest.sessions { session.finish(error) }
        rest.syncs?.finish(error)
        for watcher in rest.powerWatchers.values { watcher.finish(error) }
        for channel in rest.channels { channel.end(error, reading: error) }
        for token in rest.awaitingEnd { resume(token, .success(.done)) }
    }
}
