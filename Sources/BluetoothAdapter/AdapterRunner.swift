import BluetoothBase
import BluetoothHCI
import BluetoothHost
import HCITransport
import Synchronization

/// One adapter for any number of users: the thread that waits for its transport, its clock and its users' calls, and all
/// that it takes to get a lost controller back.
///
/// This is the seam between the host and whatever an application meets. Users `post` calls, which are values, from any
/// thread and without waiting; what happens comes back to each in batches, in one order.
///
/// The thread sleeps while nothing happens. On a port whose time is manual there is no thread: turns are taken on the
/// thread that posts a call or lets time pass.
public final class AdapterRunner: PacketPortHost {
    /// What an adapter is to know when it is opened.
    public struct Options: Sendable {
        public var host: HostConfiguration
        /// A btsnoop file that every packet to and from the controller is written to.
        public var captureFile: String?
        /// Whether a controller that was lost is waited for. Otherwise the adapter closes.
        public var isRecovering = true
        /// Whether a transport that cannot be opened at first is tried again and again. Otherwise the adapter closes.
        public var retriesOpening = false

        public init(host: HostConfiguration) { self.host = host }
    }

    let waker: Waker
    let mailbox = Mailbox()
    let guarded: GuardedCore
    private let status = Mutex((failure: BluetoothError?.none, information: ControllerInformation?.none))
    private let lastToken = Atomic<UInt64>(0)
    private let lastUser = Atomic<UInt32>(0)
    private let port: (any PacketPort)?

    /// Opens a transport: where the controller is, such as `hci-socket:0` or `tcp-client:127.0.0.1:6402`.
    ///
    /// It begins at once and returns without waiting; `AdapterStatus` says what became of it.
    ///
    /// - Throws: where the process has no file descriptors or threads left, or the capture file cannot be written.
    public convenience init(_ transport: TransportName, options: Options) throws(BluetoothError) {
        try self.init(transport, options: options, calls: .system)
    }

    /// As above, with somebody else to open transports: so tests can stand in for a kernel with Bluetooth.
    package convenience init(
        _ name: TransportName, options: Options, calls: TransportCalls
    ) throws(BluetoothError) {
        try self.init(name, options: options, calls: calls, clock: .system)
    }

    /// As above, in another time.
    convenience init(
        _ name: TransportName, options: Options, calls: TransportCalls, clock: AdapterClock
    ) throws(BluetoothError) {
        try self.init(.transport(name, calls), clock, nil, options)
    }

    /// Takes a controller in this process, such as one of a radio without hardware.
    public convenience init(_ port: any PacketPort, options: Options) throws(BluetoothError) {
        try self.init(.port(port), .port(port), port, options)
    }

    private init(
        _ source: ControllerSource, _ clock: AdapterClock, _ port: (any PacketPort)?, _ options: Options
    ) throws(BluetoothError) {
        self.port = port
        guarded = GuardedCore(RunnerCore(clock, source, options))
        do throws(TransportError) {
            waker = try Waker()
        } catch {
            throw .transport(error)
        }
        guarded.core.runner = self
        do throws(TransportError) {
            // The file comes first: without it nothing is to be sent.
            if let path = options.captureFile { guarded.core.capture = try CaptureFile(path: path) }
            if isTurnedByPort {
                guarded.withTurn { $0.begin(at: $0.clock.now) }
                requestTurn()
            } else {
                try RunnerThread.start(self, EventLoop(waker: waker))
            }
        } catch {
            throw .transport(error)
        }
    }

    deinit { close() }

    // MARK: - Users

    /// Adds a user. The first event it is handed is the adapter's status, then what there is already.
    ///
    /// The adapter keeps the observer until the user is detached or the adapter closes.
    public func attach(_ observer: any AdapterObserver) -> UserID {
        let user = UserID(number: lastUser.wrappingAdd(1, ordering: .relaxed).newValue)
        _ = deliver(mailbox.put(user, observer))
        return user
    }

    /// Takes a user off, and with it all it wanted. Returns at once; what happens in the meantime may still reach it.
    public func detach(_ user: UserID) {
        _ = deliver(mailbox.put(HostCall(user: user, kind: .detach)))
    }

    /// Hands a call over. It is carried out after those that were posted before, on this thread or others.
    ///
    /// - Parameter token: what `UserEvent.ended` is to carry; `.none` where the result is not wanted.
    /// - Returns: false where the adapter is closed: then nothing follows.
    @discardableResult
    public func post(_ kind: HostCall.Kind, token: CallToken = .none, from user: UserID) -> Bool {
        deliver(mailbox.put(HostCall(user: user, token: token, kind: kind)))
    }

    /// A token that no other call through this adapter has.
    public func makeToken() -> CallToken {
        CallToken(rawValue: lastToken.wrappingAdd(1, ordering: .relaxed).newValue)
    }

    /// Wakes whoever looks into the mailbox, where that is due. Whether something was put in.
    private func deliver(_ receipt: Mailbox.Receipt) -> Bool {
        guard case .taken(let needsWake) = receipt else { return false }
        if needsWake { wake() }
        return true
    }

    // MARK: - What there is

    /// Why the adapter is not ready; nil where it is, or is being opened. Inside `AdapterObserver.receive` it is that of
    /// the last event.
    public var failure: BluetoothError? { status.withLock { $0.failure } }

    /// What the controller can do, and which address it uses; nil while there is none.
    public var information: ControllerInformation? { status.withLock { $0.information } }

    /// The present, in the time the adapter lives in.
    public var now: Instant { guarded.clock.now }

    /// Whether the adapter is closed.
    public var isClosed: Bool { mailbox.isClosed }

    /// Nothing: each transport on a port has a seat of its own, which notes that.
    public func unplugged() {}

    func publish(failure: BluetoothError?) { status.withLock { $0.failure = failure } }
    func publish(information: ControllerInformation?) { status.withLock { $0.information = information } }

    /// What the error of a call means to an application.
    public func error(for error: HostError) -> BluetoothError {
        if error == .adapterRemoved, mailbox.isClosed { return failure ?? .adapterClosed }
        return BluetoothError(error)
    }

    /// What calls on a link throw that has ended so.
    public func error(for reason: DisconnectReason) -> BluetoothError {
        reason == .adapterRemoved ? error(for: HostError.adapterRemoved) : .disconnected(reason)
    }

    // MARK: - The end

    /// Ends everything and gives the transport back. What is pending ends first, each with its event, and the last event of
    /// every user says that the adapter is closed. Peers lose their links without being told.
    ///
    /// It returns when all of that is done; inside `AdapterObserver.receive` it returns at once, and is done next.
    public func close() {
        guard !guarded.isInTurn else { return beginClosing() }
        guarded.withTurn { $0.close(.adapterClosed, mailbox) }
        waker.wake()
    }

    /// Closes as `close` does, behind the calls that have been posted, and returns at once.
    public func beginClosing() { _ = deliver(mailbox.putClosing()) }

    // MARK: - Turns

    /// Has a turn taken soon: there is a call, or a port has something.
    public func wake() {
        if isTurnedByPort { requestTurn() } else { waker.wake() }
    }

    private var isTurnedByPort: Bool { port?.isTimeManual ?? false }

    private func requestTurn() { port?.requestTurn(of: self) }

    /// The turns that there is something for now, on the thread of a port whose time is manual. Returns when the adapter
    /// next has something to do by itself.
    public func takeTurn() -> Instant? {
        guarded.withTurn { core in
            repeat { core.turn(nil, mailbox) } while !mailbox.leave()
            return core.nextDeadline
        }
    }

    /// A turn of the thread, and what it is to wait for afterwards; nil at the end.
    func turn(_ ready: EventLoop.Event?) -> RunnerThread.Wish? {
        guarded.withTurn { core in
            core.turn(ready, mailbox)
            if case .over = core.state { return nil }
            return RunnerThread.Wish(
                fileDescriptor: core.watchedDescriptor, watchNumber: core.watchNumber,
                wantsWrite: core.transport?.wantsWrite ?? false, deadline: core.clock.wakeUp(for: core.nextDeadline))
        }
    }

    /// The thread begins.
    func begin() { guarded.withTurn { $0.begin(at: $0.clock.now) } }
}
