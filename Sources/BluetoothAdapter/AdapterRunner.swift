import BluetoothBase
import BluetoothHCI
import BluetoothHost
import BluetoothUsers
import Dispatch
import HCITransport
import Synchronization

/// One adapter, shared by any number of users. It owns the thread that waits for the transport, the clock and the
/// users' calls, and it recovers a lost controller.
///
/// This is the seam between the host and the APIs above it. Users `post` calls, which are values, from any thread
/// without blocking. Each user receives its events in batches, in one order.
///
/// The thread sleeps while the adapter is idle. A port on manual time needs no thread: its turns run on the thread that
/// posts a call or advances time.
public final class AdapterRunner: Sendable {
    let turns: RunnerTurns
    private let lastToken = Atomic<UInt64>(0)
    private let lastUser = Atomic<UInt32>(0)

    /// Opens a transport to a controller, such as `hci-socket:0` or `tcp-client:127.0.0.1:6402`.
    ///
    /// Opening starts immediately, and the initializer returns without waiting. `AdapterStatus` reports the result.
    ///
    /// - Throws: if the process has no file descriptors or threads left, or the capture file cannot be written.
    public convenience init(_ transport: TransportName, options: AdapterOptions) throws(BluetoothError) {
        try self.init(transport, options: options, calls: .system(report: options.report))
    }

    /// Like the initializer above, with custom functions for opening transports, which tests substitute for a real
    /// kernel.
    package convenience init(
        _ name: TransportName, options: AdapterOptions, calls: TransportCalls
    ) throws(BluetoothError) {
        try self.init(name, options: options, calls: calls, clock: .system)
    }

    /// Like the initializer above, with a custom clock.
    convenience init(
        _ name: TransportName, options: AdapterOptions, calls: TransportCalls, clock: AdapterClock
    ) throws(BluetoothError) {
        try self.init(.transport(name, calls), clock, nil, options)
    }

    /// Uses a controller in this process, such as a virtual radio's.
    public convenience init(_ port: any PacketPort, options: AdapterOptions) throws(BluetoothError) {
        try self.init(.port(port), .port(port), port, options)
    }

    private init(
        _ source: ControllerSource, _ clock: AdapterClock, _ port: (any PacketPort)?, _ options: AdapterOptions
    ) throws(BluetoothError) {
        options.reportSecurity()
        do throws(TransportError) {
            // Create the capture file first, so that no packet is sent without being captured.
            let capture = try options.captureFile.map { (path) throws(TransportError) in
                try CaptureFile(path: path, report: options.report)
            }
            turns = try RunnerTurns(RunnerCore(clock, source, options, capture), port)
            try turns.start()
        } catch {
            throw .transport(error)
        }
    }

    deinit { turns.beginClosing() }

    // MARK: - Users

    /// Adds a user. Its first event is the adapter's status, followed by a snapshot.
    ///
    /// The adapter retains the observer until the user is detached or the adapter closes.
    public func attach(_ observer: any AdapterObserver) -> UserID {
        let user = UserID(number: lastUser.wrappingAdd(1, ordering: .relaxed).newValue)
        _ = deliver(turns.mailbox.put(user, observer))
        return user
    }

    /// Removes a user and everything it requested. Returns immediately; the user may still receive events that were on
    /// their way.
    public func detach(_ user: UserID) {
        _ = deliver(turns.mailbox.put(HostCall(user: user, kind: .detach)))
    }

    /// Posts a call. It is carried out after the calls posted earlier, from this thread or others.
    ///
    /// - Parameter token: the token that `UserEvent.ended` carries; `.none` if the caller does not need the result.
    /// - Parameter knownChanges: see `HostCall.knownChanges`.
    /// - Returns: false if the adapter is closed, or if the call is `.attach`, which needs an observer: see
    ///   `attach(_:)`. No event follows.
    @discardableResult
    public func post(
        _ kind: consuming HostCall.Kind, token: CallToken = .none, from user: UserID, keepsOrder: Bool = true,
        knownChanges: UInt32? = nil
    ) -> Bool {
        if case .attach = kind { return false }
        return deliver(
            turns.mailbox.put(
                HostCall(
                    user: user, token: token, kind: consume kind, keepsOrder: keepsOrder, knownChanges: knownChanges)))
    }

    /// Returns a token that no other call through this adapter has.
    public func makeToken() -> CallToken {
        CallToken(rawValue: lastToken.wrappingAdd(1, ordering: .relaxed).newValue)
    }

    /// Wakes the reader of the mailbox if needed. Returns whether something was added.
    private func deliver(_ receipt: Mailbox.Receipt) -> Bool {
        guard case .taken(let needsWake) = receipt else { return false }
        if needsWake { turns.wake() }
        return true
    }

    // MARK: - State

    /// Why the adapter is not ready; nil if it is ready or being opened. Inside `AdapterObserver.receive`, it matches
    /// the last event.
    public var failure: BluetoothError? { turns.failure }

    /// The controller's capabilities and address; nil while no controller is available.
    public var information: ControllerInformation? { turns.information }

    /// The current time of the adapter's clock.
    public var now: Instant { turns.guarded.clock.now }

    /// Whether the adapter is closed.
    public var isClosed: Bool { turns.mailbox.isClosed }

    /// The application's error for a call that failed with `error`.
    public func error(for error: HostError) -> BluetoothError {
        if error == .adapterRemoved, isClosed { return failure ?? .adapterClosed }
        return BluetoothError(error)
    }

    /// The error that calls throw on a link that ended for this reason.
    public func error(for reason: DisconnectReason) -> BluetoothError {
        reason == .adapterRemoved ? error(for: HostError.adapterRemoved) : .disconnected(reason)
    }

    /// The number of objects that the host holds, for tests.
    package var occupancy: HostOccupancy { turns.guarded.withTurn { $0.shared.occupancy } }

    /// A description of the first table or queue that exceeds its limit, for tests; nil if none does.
    package var surplus: String? { turns.guarded.withTurn { $0.shared.surplus } }

    /// The bonds that the host has loaded, for tests.
    package var bonds: [Bond] { turns.guarded.withTurn { $0.shared.bonds } }

    /// Waits until no posted call and no data sent over a link is pending, for tests.
    package func waitUntilIdle() async {
        await withCheckedContinuation { continuation in
            if !deliver(turns.mailbox.put(continuation)) { continuation.resume() }
        }
    }

    /// Whether nothing is pending, for tests on manual time.
    package var isIdle: Bool { turns.guarded.withTurn { $0.isIdle && turns.mailbox.isEmpty } }

    /// The number of calls carried out plus packets received, not counting advertising reports, for tests.
    package var work: UInt64 { turns.guarded.withTurn { $0.work } }

    /// Access to the core and its turns, for tests.
    var guarded: GuardedCore { turns.guarded }
    package func wake() { turns.wake() }
    package func takeTurn() -> Instant? { turns.takeTurn() }

    // MARK: - Closing

    /// Closes the adapter and releases the transport.
    ///
    /// Pending calls end first, each with its event, and the last event of every user reports that the adapter is
    /// closed. Then the host disconnects its links, so that peers notice immediately. If the controller does not report
    /// their disconnection within half a second, it is released anyway. Bonds are stored meanwhile. Changes that are
    /// not on the disk after 3 seconds are abandoned and reported to `reportBonds`.
    ///
    /// The method returns when all of that is done. With a port on manual time, it returns once the users have been
    /// notified, and the links are disconnected as time advances. Inside `AdapterObserver.receive` it returns
    /// immediately, and the adapter closes after that.
    public func close() {
        let ended = DispatchSemaphore(value: 0)
        let isInTurn = turns.guarded.isInTurn
        close { ended.signal() }
        if !isInTurn, !turns.isTurnedByPort { ended.wait() }
    }

    /// Closes like `close()`, but does not wait for the links or the disk.
    ///
    /// - Parameter whenEnded: called on any thread once closing is complete. It may run inside a turn and must not
    ///   block.
    package func close(whenEnded: @escaping @Sendable () -> Void) {
        turns.ended.whenReached(whenEnded)
        guard !turns.guarded.isInTurn else { return beginClosing() }
        turns.guarded.withTurn { $0.close(.adapterClosed, turns.mailbox) }
        turns.noteClosing()
    }

    /// Closes like `close()`, but suspends the task instead of blocking its thread.
    package func closeAndWait() async {
        guard !turns.isTurnedByPort else { return close {} }
        await withCheckedContinuation { continuation in close { continuation.resume() } }
    }

    /// Closes like `close()`, after the calls already posted, and returns immediately.
    public func beginClosing() { turns.beginClosing() }

    /// Ends as if the process were killed: the host disconnects nothing, and its peers lose their links.
    package func kill() {
        guard !turns.guarded.isInTurn else { return beginClosing() }
        turns.guarded.withTurn { $0.close(.adapterClosed, turns.mailbox, disconnects: false) }
        turns.noteClosing()
    }

    /// Whether the transport is released.
    package var isReleased: Bool { turns.isReleased }

    /// Whether time passes for the adapter only when a caller advances it.
    package var isTimeManual: Bool { turns.isTurnedByPort }
}
