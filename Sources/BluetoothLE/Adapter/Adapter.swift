import BluetoothBase
import BluetoothGATT
import BluetoothHCI
import BluetoothHost
import HCITransport

/// A Bluetooth LE adapter: a controller, with this package's host on top of it.
///
/// An adapter can scan, advertise, be central to some peers and peripheral to others, all at once. Every call of an
/// adapter, and of what it hands out, ends: with its result, or by throwing a `BluetoothError` when the link drops, the
/// task is cancelled, the adapter goes or the deadline passes.
///
/// A controller may be unplugged. Then whatever is pending ends with `.adapterRemoved`, once; links and scans are gone,
/// and calls throw `.adapterRemoved` at once. The adapter waits for its controller, which costs nothing, and takes it
/// up again when it is back: `AdapterEvent.ready` tells, and advertising and published services go on by themselves.
///
///     let adapter = try await Adapter.open(TransportName("hci-socket:0"))
///     for try await sighting in try await adapter.scan(for: ScanFilter(services: ["180D"])) {
///         let connection = try await adapter.connect(to: sighting.address)
///         …
///     }
///
/// One thread runs the adapter. It sleeps while nothing happens.
public actor Adapter {
    /// What an adapter can be told when it is opened.
    public struct Options: Sendable {
        public var host: HostConfiguration
        /// A btsnoop file that every packet to and from the controller is written to.
        public var captureFile: String?
        /// Whether the adapter waits for its controller where that is unplugged, given up, or no longer to be reached,
        /// and goes on when it is back. Otherwise it is closed, and calls throw `.transport` or `.adapter` with the
        /// cause.
        public var isRecovering = true

        /// - Parameters:
        ///   - seed: the random bits the host starts from; the system's where none are given.
        ///   - captureFile: a btsnoop file that every packet to and from the controller is written to.
        public init(seed: UInt64? = nil, captureFile: String? = nil) {
            host = HostConfiguration(seed: seed ?? .random(in: .min ... .max))
            self.captureFile = captureFile
        }
    }

    enum State {
        case opening
        case open(any HCITransport)
        /// The controller is gone, and waited for; with a transport where there is one again, on which it is being
        /// brought up.
        case removed((any HCITransport)?)
        case closed(BluetoothError)
    }

    nonisolated let executor: AdapterExecutor
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    let clock: any AdapterClock
    var host: Host
    var state = State.opening
    var recovery: Recovery
    /// Where packets are recorded, through every loss of the transport.
    var capture: CaptureFile?
    /// Changes whenever the thread is to watch another descriptor, which may have the number of the one before.
    var watchNumber = 0

    /// The calls that are suspended, by what they wait for.
    var waiters: [Awaited: Waiter] = [:]
    var nextNumber = 0

    var scans: [ScanSession] = []
    var links: [LinkIdentifier: LinkState] = [:]
    /// Why the latest links ended, for those who ask too late.
    var endings = Endings()
    /// Attempts to connect whose link has come and gone before anybody was told of it.
    var lostAttempts: [LinkIdentifier: ConnectionAttempt] = [:]
    /// Who is told of what peers do with our attributes, by handle.
    ///
    /// Like `observers` it does not own the queues: the events in them name this adapter, and would keep it alive. They
    /// live as long as somebody can take from them.
    var published: [AttributeHandle: EventReceiver] = [:]
    var observers: [Int: WeakQueue<AdapterEvent>] = [:]

    init(executor: AdapterExecutor, clock: any AdapterClock, source: ControllerSource, options: Options) {
        self.executor = executor
        self.clock = clock
        recovery = Recovery(source, isEnabled: options.isRecovering)
        host = Host(configuration: options.host)
    }

    isolated deinit {
        shutDown(.adapterClosed)
    }

    /// What the controller can do, and the address this adapter uses.
    public var information: ControllerInformation? { host.controller }

    /// Ends everything and gives the transport back. Calls that are pending, and those that come later, throw
    /// `.adapterClosed`. Peers lose their links without being told; `Connection.disconnect` tells them.
    ///
    /// An adapter that nobody holds any more closes by itself.
    public func close() {
        shutDown(.adapterClosed)
    }

    /// Why the adapter cannot be used, where that is so.
    func checkOpen() throws(BluetoothError) {
        switch state {
        case .open: return
        case .opening: throw .host(.notReady)
        case .removed: throw .adapterRemoved
        case .closed(let error): throw error
        }
    }

    /// Ends every call and every sequence with `error`. Only the first reason counts.
    func shutDown(_ error: BluetoothError) {
        if case .closed = state { return }
        transport?.close()
        recovery.end()
        state = .closed(error)
        resumeAll(where: { _ in true }, with: .failure(error))
        for scan in scans { scan.sightings.finish(error) }
        scans = []
        for link in links.values { link.end(error) }
        links = [:]
        for entry in published.values { entry.queue?.finish(error) }
        published = [:]
        for observer in observers.values { observer.queue?.finish(error) }
        observers = [:]
        executor.stop()
    }
}
