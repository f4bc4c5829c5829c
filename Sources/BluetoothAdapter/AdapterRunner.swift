import BluetoothBase
import BluetoothHCI
import BluetoothHost
import BluetoothUsers
import Dispatch
import HCITransport
import Synchronization

/// One adapter for any number of users: the thread that waits for its transport, its clock and its users' calls, and
/// the recovery of a lost controller.
///
/// This is the seam between the host and the APIs above it. Users `post` calls, which are values, from any thread and
/// without waiting. Each user receives its events in batches, in one order.
///
/// The thread sleeps while nothing happens. A port on manual time needs no thread: turns run on the thread that posts a
/// call or lets time pass.
public final class AdapterRunner: Sendable {
    /// The options for opening an adapter.
    public struct Options: Sendable {
        public var host: HostConfiguration
        /// A btsnoop file for every packet to and from the controller.
        public var captureFile: String?
        /// Faults that befall the packets to and from the controller, to see how an application gets over them. They do not
        /// apply to a `PacketPort`.
        public var faults: HCIFaults?
        /// Whether to wait for a lost controller. Otherwise the adapter closes.
        public var isRecovering = true
        /// Whether to retry a transport that cannot be opened at first. Otherwise the adapter closes.
        public var retriesOpening = false
        /// Told, on any thread, what went wrong without ending anything: a client that cannot be accepted for now, a
        /// capture that had to stop.
        public var report: @Sendable (TransportError) -> Void = { _ in }

        /// Told, on the adapter's thread, why an attempt to get the controller failed that is followed by another one.
        package var reportRetry: @Sendable (BluetoothError) -> Void = { _ in }

        /// Where bonds are kept; nil for as long as the adapter is open only. A separate thread writes changes, in
        /// order, and a pairing has succeeded once its bond is stored; with a radio on manual time, in the adapter's turns.
        public var bonds: (any BondStore)?
        /// Why there is no place for bonds, to be reported with the first one that is not kept.
        package var missingBondStore: BondStoreError?
        /// How a simulated disk handles each change of bonds; nil to write them for good. Only with a radio on manual time.
        package var simulatedWrites: (@Sendable () -> SimulatedWrite)?
        /// Told, on the adapter's thread, why bonds could not be read or kept.
        public var reportBonds: @Sendable (BondStoreError) -> Void = { _ in }

        public init(host: HostConfiguration) { self.host = host }
    }

    let turns: RunnerTurns
    private let lastToken = Atomic<UInt64>(0)
    private let lastUser = Atomic<UInt32>(0)

    /// Opens a transport: where the controller is, such as `hci-socket:0` or `tcp-client:127.0.0.1:6402`.
    ///
    /// It begins at once and returns without waiting; `AdapterStatus` reports the result.
    ///
    /// - Throws: if the process has no file descriptors or threads left, or the capture file cannot be written.
    public convenience init(_ transport: TransportName, options: Options) throws(BluetoothError) {
        try self.init(transport, options: options, calls: .system(report: options.report))
    }

    /// As above, with another opener of transports: tests replace a kernel with Bluetooth.
    package convenience init(
        _ name: TransportName, options: Options, calls: TransportCalls
    ) throws(BluetoothError) {
        try self.init(name, options: options, calls: calls, clock: .system)
    }

    /// As above, with another clock.
    convenience init(
        _ name: TransportName, options: Options, calls: TransportCalls, clock: AdapterClock
    ) throws(BluetoothError) {
        try self.init(.transport(name, calls), clock, nil, options)
    }

    /// Uses a controller in this process, such as one of a virtual radio.
    public convenience init(_ port: any PacketPort, options: Options) throws(BluetoothError) {
        try self.init(.port(port), .port(port), port, options)
    }

    private init(
        _ source: ControllerSource, _ clock: AdapterClock, _ port: (any PacketPort)?, _ options: Options
    ) throws(BluetoothError) {
        do throws(TransportError) {
            turns = try RunnerTurns(RunnerCore(clock, source, options), port)
            // The file comes first: nothing is sent without it.
            if let path = options.captureFile {
                turns.guarded.core.capture = try CaptureFile(path: path, report: options.report)
            }
            try turns.start()
        } catch {
            throw .transport(error)
        }
    }

    deinit { turns.beginClosing() }

    // MARK: - Users

    /// Adds a user. Its first event is the adapter's status, followed by a snapshot.
    ///
    /// The adapter keeps the observer until the user is detached or the adapter closes.
    public func attach(_ observer: any AdapterObserver) -> UserID {
        let user = UserID(number: lastUser.wrappingAdd(1, ordering: .relaxed).newValue)
        _ = deliver(turns.mailbox.put(user, observer))
        return user
    }

    /// Removes a user, with all it requested. Returns at once; events in the meantime may still reach it.
    public func detach(_ user: UserID) {
        _ = deliver(turns.mailbox.put(HostCall(user: user, kind: .detach)))
    }

    /// Posts a call. It is carried out after those posted earlier, on this thread or others.
    ///
    /// - Parameter token: the token that `UserEvent.ended` carries; `.none` if the result is not wanted.
    /// - Parameter knownChanges: see `HostCall.knownChanges`.
    /// - Returns: false if the adapter is closed: then no event follows.
    @discardableResult
    public func post(
        _ kind: HostCall.Kind, token: CallToken = .none, from user: UserID, keepsOrder: Bool = true,
        knownChanges: UInt32? = nil
    ) -> Bool {
        let call = HostCall(user: user, token: token, kind: kind, keepsOrder: keepsOrder, knownChanges: knownChanges)
        return deliver(turns.mailbox.put(call))
    }

    /// A token that no other call through this adapter has.
    public func makeToken() -> CallToken {
        CallToken(rawValue: lastToken.wrappingAdd(1, ordering: .relaxed).newValue)
    }

    /// Wakes the reader of the mailbox if needed. Returns whether something was added.
    private func deliver(_ receipt: Mailbox.Receipt) -> Bool {
        guard case .taken(let needsWake) = receipt else { return false }
        if needsWake { turns.wake() }
        return true
    }

    // MARK: - What there is

    /// Why the adapter is not ready; nil if it is ready or being opened. Inside `AdapterObserver.receive` it matches
    /// the last event.
    public var failure: BluetoothError? { turns.failure }

    /// What the controller can do, and its address; nil while there is no controller.
    public var information: ControllerInformation? { turns.information }

    /// The current time of the adapter's clock.
    public var now: Instant { turns.guarded.clock.now }

    /// Whether the adapter is closed.
    public var isClosed: Bool { turns.mailbox.isClosed }

    /// The application's error for the error of a call.
    public func error(for error: HostError) -> BluetoothError {
        if error == .adapterRemoved, isClosed { return failure ?? .adapterClosed }
        return BluetoothError(error)
    }

    /// What calls throw on a link that ended for this reason.
    public func error(for reason: DisconnectReason) -> BluetoothError {
        reason == .adapterRemoved ? error(for: HostError.adapterRemoved) : .disconnected(reason)
    }

    /// What the host holds, for tests.
    package var occupancy: HostOccupancy { turns.guarded.withTurn { $0.shared.occupancy } }

    /// What it holds more of than it may, in words; nil where there is nothing.
    package var surplus: String? { turns.guarded.withTurn { $0.shared.surplus } }

    /// The bonds that the host knows of, for tests.
    package var bonds: [Bond] { turns.guarded.withTurn { $0.shared.bonds } }

    /// Waits until nothing that was posted, or sent over a link, is under way any more: for tests.
    package func waitUntilIdle() async {
        await withCheckedContinuation { continuation in
            if !deliver(turns.mailbox.put(continuation)) { continuation.resume() }
        }
    }

    /// Whether nothing is under way: for tests in manual time.
    package var isIdle: Bool { turns.guarded.withTurn { $0.isIdle && turns.mailbox.isEmpty } }

    /// How many calls were carried out, and packets received but for advertising reports: for tests.
    package var work: UInt64 { turns.guarded.withTurn { $0.work } }

    /// The core, and a turn, for tests.
    var guarded: GuardedCore { turns.guarded }
    package func wake() { turns.wake() }
    package func takeTurn() -> Instant? { turns.takeTurn() }

    // MARK: - The end

    /// Ends everything and releases the transport. Pending calls end first, each with its event, and the last event of
    /// every user says that the adapter is closed. Then the links are disconnected, so that peers learn of it at once. A
    /// controller that does not report their end within half a second is released anyway.
    ///
    /// Bonds are stored meanwhile. Changes that the disk has not taken after 3 seconds are abandoned, and reported to `reportBonds`.
    ///
    /// Returns when all of that is done. Where the time of a port is manual, it returns when the users have been notified, and
    /// the links are disconnected as time passes. Inside `AdapterObserver.receive` it returns at once, and the adapter closes
    /// next.
    public func close() {
        let ended = DispatchSemaphore(value: 0)
        let isInTurn = turns.guarded.isInTurn
        close { ended.signal() }
        if !isInTurn, !turns.isTurnedByPort { ended.wait() }
    }

    /// Closes as `close` does, and does not wait for the links or the disk.
    ///
    /// - Parameter whenEnded: called once everything is done, on any thread, which may be in a turn: it must not wait.
    package func close(whenEnded: @escaping @Sendable () -> Void) {
        turns.ended.whenReached(whenEnded)
        guard !turns.guarded.isInTurn else { return beginClosing() }
        turns.guarded.withTurn { $0.close(.adapterClosed, turns.mailbox) }
        turns.noteClosing()
    }

    /// Closes as `close` does, and suspends the task in place of blocking its thread.
    package func closeAndWait() async {
        guard !turns.isTurnedByPort else { return close {} }
        await withCheckedContinuation { continuation in close { continuation.resume() } }
    }

    /// Closes as `close` does, after the calls already posted, and returns at once.
    public func beginClosing() { turns.beginClosing() }

    /// Ends as the process does that is killed: nothing is disconnected, and peers lose their links.
    package func kill() {
        turns.guarded.withTurn { $0.close(.adapterClosed, turns.mailbox, disconnects: false) }
        turns.noteClosing()
    }

    /// Whether the transport is released.
    package var isReleased: Bool { turns.isReleased }

    /// Whether time passes for the adapter only when somebody says so.
    package var isTimeManual: Bool { turns.isTurnedByPort }
}
