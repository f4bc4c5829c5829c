import BluetoothBase
import BluetoothGAP
import BluetoothHCI

/// Synchronizing to periodic advertising: the requests, the controller's state, and the established synchronizations
/// (Core 5.4, Vol 3, Part C, 9.5.3). A controller tries to synchronize to one advertiser at a time, or to any in a
/// list. Several requests take turns.
struct PeriodicSynchronizer: Hashable, Sendable {
    /// The commands that lead to a synchronization.
    enum Step: Equatable, Sendable {
        case setUp, create, cancel
    }

    struct Request: Hashable, Sendable {
        let identifier: PeriodicSyncIdentifier
        let advertisers: [PeriodicAdvertiser]
        let parameters: PeriodicSyncParameters
        let deadline: Instant?
    }

    private enum State: Hashable, Sendable {
        case idle
        /// Commands that lead to `running` have been sent to the controller, or are about to be.
        case starting(PeriodicSyncIdentifier, rest: CommandSequence)
        case running(PeriodicSyncIdentifier, turnEnd: Instant)
        /// Ends with LE Periodic Advertising Sync Established, or at this time if the controller never sends it.
        case cancelling(until: Instant)
    }

    /// The pending requests. The first one has its turn.
    private(set) var requests: [Request] = []
    private(set) var syncs: [EstablishedSync] = []
    private var state: State = .idle
    private var backoff = Backoff()

    /// The maximum number of requests and synchronizations together. A controller may support fewer.
    static let limit = 16
    /// The time for which each request is tried while others wait.
    private static let turn = Duration.seconds(5)
    /// The time within which the controller must report the end of a cancelled attempt.
    private static let cancelling = Duration.seconds(2)

    var isFull: Bool { requests.count + syncs.count >= Self.limit }

    /// The PHYs on which the scanner must listen; nil if it need not.
    var scanPHYs: ScanPHYs? { requests.first?.parameters.phys }

    /// Whether the controller is not trying to synchronize and is not about to start or stop.
    var isIdle: Bool {
        if case .idle = state { true } else { false }
    }

    /// Whether an advertiser may connect to this device, which periodic advertising with responses allows (Vol 3, Part
    /// C, 9.3.17).
    var acceptsConnections: Bool { syncs.contains { $0.information.subevents != nil } }

    var nextDeadline: Instant? {
        if case .cancelling(let end) = state { return requests.reduce(end) { min($0, $1.deadline ?? $0) } }
        guard !requests.isEmpty else { return nil }
        var deadline = requests.reduce(nil) { earliest($0, $1.deadline) }
        if case .running(_, let end) = state, requests.count > 1 { deadline = earliest(deadline, end) }
        return isIdle ? earliest(deadline, backoff.deadline) : deadline
    }

    // MARK: Calls

    mutating func add(_ request: Request) { requests.append(request) }

    /// Removes a request. Returns false if it is not pending.
    mutating func remove(_ identifier: PeriodicSyncIdentifier) -> Bool {
        guard let index = requests.firstIndex(where: { $0.identifier == identifier }) else { return false }
        requests.remove(at: index)
        return true
    }

    /// Moves one step towards the requested state.
    ///
    /// - Parameter addresses: the addresses of the advertisers in the first request.
    mutating func advance(_ addresses: [DeviceAddress], at now: Instant) -> [Effect] {
        switch state {
        case .idle:
            guard let request = requests.first, !backoff.waits(at: now) else { return [] }
            return proceed(request.identifier, CommandSequence(Self.commands(for: request, addresses)))
        case .running(let identifier, let end):
            guard requests.first?.identifier == identifier else { return cancel(at: now) }
            guard requests.count > 1, end <= now else { return [] }
            requests.append(requests.removeFirst())
            return cancel(at: now)
        case .starting, .cancelling: return []
        }
    }

    /// Sends the next of the commands that lead to a synchronization.
    private mutating func proceed(_ identifier: PeriodicSyncIdentifier, _ commands: CommandSequence) -> [Effect] {
        var rest = commands
        guard let next = rest.popFirst() else { return [] }
        state = .starting(identifier, rest: rest)
        return [.send(next, for: .synchronize(rest.isEmpty ? .create : .setUp))]
    }

    private mutating func cancel(at now: Instant) -> [Effect] {
        state = .cancelling(until: now.advanced(by: Self.cancelling))
        return [.send(LEPeriodicAdvertisingCreateSyncCancel(), for: .synchronize(.cancel))]
    }

    private static func commands(for request: Request, _ addresses: [DeviceAddress]) -> [any HCICommand] {
        let parameters = request.parameters
        let isNamed = request.advertisers.count == 1
        var create = LEPeriodicAdvertisingCreateSync(
            options: parameters.options, advertisingSID: isNamed ? request.advertisers[0].sid : 0,
            advertiserAddress: isNamed ? addresses[0] : DeviceAddress(0, kind: .public),
            skip: UInt16(clamping: parameters.skip), timeout: parameters.timeoutUnits)
        guard !isNamed else { return [create] }
        create.options.insert(.usesAdvertiserList)
        var commands: [any HCICommand] = [LEClearPeriodicAdvertiserList()]
        for (advertiser, address) in zip(request.advertisers, addresses) {
            commands.append(
                LEAddDeviceToPeriodicAdvertiserList(advertiserAddress: address, advertisingSID: advertiser.sid))
        }
        return commands + [create]
    }

    // MARK: The controller

    /// Handles the answer to a step.
    mutating func answered(_ step: Step, _ status: HCIStatus, at now: Instant) -> [Effect] {
        switch (state, step) {
        case (.starting(let identifier, let rest), .setUp) where status == .success:
            return proceed(identifier, rest)
        case (.starting(let identifier, _), .create) where status == .success:
            state = .running(identifier, turnEnd: now.advanced(by: Self.turn))
        case (.starting(let identifier, _), .setUp), (.starting(let identifier, _), .create):
            state = .idle
            return fail(identifier, status == .memoryCapacityExceeded ? .busy : .controller(status))
        case (.cancelling, .cancel) where status != .success:
            // The controller has already synchronized, and has reported that, or it had not started to.
            state = .idle
        default: break
        }
        return []
    }

    private mutating func fail(_ identifier: PeriodicSyncIdentifier, _ error: HostError) -> [Effect] {
        remove(identifier) ? [.report(.periodic(identifier, .failed(error)))] : []
    }

    /// Handles the end of the controller's attempt to synchronize, successful or not.
    ///
    /// - Returns: the request of the attempt; nil if it is no longer pending.
    mutating func ended(_ status: HCIStatus, at now: Instant) -> Request? {
        defer { state = .idle }
        guard case .running(let identifier, _) = state,
            let request = requests.first(where: { $0.identifier == identifier })
        else { return nil }
        if status == .success {
            backoff.succeeded()
            _ = remove(identifier)
        } else {
            // The request stays pending: an advertiser that was lost before its first event may return, and an error of
            // the controller may be temporary.
            backoff.failed(at: now)
        }
        return request
    }

    mutating func insert(_ sync: EstablishedSync) { syncs.append(sync) }

    /// The index of the synchronization with a handle.
    func index(of handle: SyncHandle) -> Int? { syncs.firstIndex { $0.handle == handle } }

    func index(of identifier: PeriodicSyncIdentifier) -> Int? { syncs.firstIndex { $0.identifier == identifier } }

    mutating func removeSync(at index: Int) -> EstablishedSync { syncs.remove(at: index) }

    /// Handles a fragment of an event's data.
    mutating func receive(_ report: borrowing LEPeriodicAdvertisingReport, at index: Int) -> EstablishedSync.Outcome {
        syncs[index].receive(report)
    }

    /// Removes and returns the reassembled data.
    mutating func takePartial(at index: Int) -> [UInt8] {
        defer { syncs[index].forget() }
        return syncs[index].partial
    }

    /// Ends requests that have timed out.
    mutating func fire(at now: Instant) -> [Effect] {
        if case .cancelling(let end) = state, end <= now { state = .idle }
        let late = requests.filter { $0.deadline.map { $0 <= now } ?? false }
        return late.flatMap { fail($0.identifier, .timedOut) }
    }

    /// Handles a reset of the controller. Established synchronizations end, pending requests continue.
    mutating func reset(_ end: PeriodicSyncEnd) -> [Effect] {
        state = .idle
        backoff.succeeded()
        defer { syncs = [] }
        return syncs.map { .report(.periodic($0.identifier, .ended(end))) }
    }

    /// Fails all requests, because the controller is no longer available.
    mutating func abandon(_ error: HostError) -> [Effect] { requests.flatMap { fail($0.identifier, error) } }

    var phaseName: PhaseName {
        switch state {
        case .idle: .idle
        case .starting: .starting
        case .running: .running
        case .cancelling: .cancelling
        }
    }
}
