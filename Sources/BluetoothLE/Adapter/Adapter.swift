import Synchronization
import BluetoothAdapter
import BluetoothBase
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
/// It is one user of an `AdapterRunner`, whose thread sleeps while nothing happens. Several adapters, and users of other
/// kinds, may share a runner.
public final class Adapter: Sendable {
    /// What an adapter is to know when it is opened.
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

        var runner: AdapterRunner.Options {
            var options = AdapterRunner.Options(host: host)
            options.captureFile = captureFile
            options.isRecovering = isRecovering
            return options
        }
    }

    let router: EventRouter
    private let ownsRunner: Bool

    /// Makes an adapter on a controller that may have other users. It has its own calls, connections, scans, services and
    /// advertisement; the links to a peer and what is on the air are shared. When it is closed the others go on.
    public convenience init(_ runner: AdapterRunner) { self.init(runner, ownsRunner: false) }

    init(_ runner: AdapterRunner, ownsRunner: Bool) {
        router = EventRouter(runner)
        self.ownsRunner = ownsRunner
        router.state.withLock { $0.adapter = self }
        router.attach()
    }

    deinit {
        router.shutDown(.adapterClosed)
        // It may be the adapter's own thread that lets go of the last of what names this.
        if ownsRunner { router.runner.beginClosing() } else { router.detach() }
    }

    /// Opens an adapter and brings its controller up.
    ///
    /// - Parameters:
    ///   - transport: where the controller is, such as `hci-socket:0` or `tcp-client:127.0.0.1:6402`.
    ///   - options: what else the adapter is to know.
    /// - Throws: `.transport` where the transport cannot be opened, `.adapter` where the controller cannot be used,
    ///   `.cancelled`.
    public static func open(
        _ transport: TransportName, options: Options = Options()
    ) async throws(BluetoothError) -> Adapter {
        // A radio is a thing, of which a name does not say which: its port is what can be opened.
        guard transport != .virtual else {
            throw .transport(TransportError(.notASocket, transport: "\(transport)"))
        }
        return try await open(try AdapterRunner(transport, options: options.runner))
    }

    /// Opens an adapter on a controller in this process, such as one of a `VirtualRadio`.
    public static func open(
        _ port: some PacketPort, options: Options = Options()
    ) async throws(BluetoothError) -> Adapter {
        try await open(try AdapterRunner(port, options: options.runner))
    }

    static func open(_ runner: AdapterRunner) async throws(BluetoothError) -> Adapter {
        let adapter = Adapter(runner, ownsRunner: true)
        do throws(BluetoothError) {
            try await adapter.waitUntilReady()
        } catch {
            await adapter.close()
            throw error
        }
        return adapter
    }

    /// Waits until the controller can be used: until it is opened, or is back.
    ///
    /// - Throws: why the adapter was closed; `.cancelled`.
    public func waitUntilReady() async throws(BluetoothError) {
        guard let token = router.calls.insert(.beginning(nil)) else { throw router.closure }
        try await router.wait(as: token, isCall: false) {
            let isReady = router.state.withLock { state in
                if state.status != .ready { state.awaitingReadiness.append(token) }
                return state.status == .ready
            }
            if isReady { router.resume(token, .success(.done)) }
            return true
        }
    }

    /// What the controller can do, and the address this adapter uses; nil while there is none.
    public var information: ControllerInformation? {
        get async { router.runner.information }
    }

    /// Ends everything and gives the transport back. Calls that are pending, and those that come later, throw
    /// `.adapterClosed`. Peers lose their links without being told; `Connection.disconnect` tells them.
    ///
    /// An adapter that nobody holds any more closes by itself. One on a runner of others' leaves that, and its transport,
    /// to them.
    public func close() async {
        router.shutDown(.adapterClosed)
        if ownsRunner { router.runner.close() } else { router.detach() }
    }
}
