import BluetoothAdapter
import BluetoothBase
import BluetoothHCI
import BluetoothHost
import HCITransport
import Logging
import Synchronization

/// A Bluetooth LE adapter: a controller, with this package's host on top of it.
///
/// An adapter can scan, advertise, be central to some peers and peripheral to others, all at once. Every call on an
/// adapter, or on an object from it, ends: with its result, or by throwing a `BluetoothError` when the link drops, the
/// task is cancelled, the adapter is lost or the deadline passes.
///
/// A controller may be unplugged. Then each pending call ends with `.adapterRemoved`, links and scans are gone, and new
/// calls throw `.adapterRemoved` at once. The adapter waits for its controller at no cost. When it is back,
/// `AdapterEvent.ready` follows, and advertising and published services resume by themselves.
///
///     let adapter = try await Adapter.open()
///     let filter = ScanFilter(services: ["180D"])
///     for try await sighting in try await adapter.scan(for: filter) {
///         let connection = try await adapter.connect(to: sighting.address)
///         …
///     }
///
/// It is one user of an `AdapterRunner`, whose thread sleeps while nothing happens. Several adapters, and users of other
/// kinds, may share a runner.
public final class Adapter: Sendable {
    /// The options for opening an adapter.
    public struct Options: Sendable {
        public var host: HostConfiguration
        /// A btsnoop file for every packet to and from the controller.
        public var captureFile: String?
        /// Faults that befall the packets to and from the controller, to see how an application gets over them. They do not
        /// apply to a `PacketPort`.
        public var faults: HCIFaults?
        /// Whether the adapter waits for a controller that was unplugged, given up or became unreachable, and resumes
        /// when it is back. Otherwise the adapter closes, and calls throw `.transport` or `.adapter` with the cause.
        public var isRecovering = true
        /// Told, on any thread, what went wrong without ending anything: a client that cannot be accepted for now, a
        /// capture that had to stop.
        public var report: @Sendable (TransportError) -> Void = { _ in }

        /// Where bonds are kept. By default on disk, see `FileBondStore`, if the controller is one of this machine
        /// (`TransportName.isOfThisMachine`). With any other, such as one of a virtual radio, for as long as the adapter is open.
        public var bonds: (any BondStore)?
        /// Told, on the adapter's thread, why bonds could not be read or kept.
        public var reportBonds: @Sendable (BondStoreError) -> Void = { _ in }

        /// Takes what an application is not told of otherwise: requests for a characteristic whose events nobody takes,
        /// sightings that were dropped, resets of the controller and attempts to get it back, pairings that were refused. By
        /// default it says nothing. Values and keys are never in it, nor names from the air. What happens often is said the
        /// first, second, fourth, eighth time and so on, with the metadata `occurrences`. It is called on the adapter's thread,
        /// so its handler must not wait.
        public var logger = Logger(label: "BluetoothLE") { _ in SwiftLogNoOpLogHandler() }

        /// - Parameters:
        ///   - seed: the random bits the host starts from; by default the system's.
        ///   - captureFile: a btsnoop file for every packet to and from the controller.
        public init(seed: UInt64? = nil, captureFile: String? = nil) {
            host = HostConfiguration(seed: seed ?? .random(in: .min ... .max))
            host.security = .preset
            self.captureFile = captureFile
        }

        var runner: AdapterRunner.Options {
            var options = AdapterRunner.Options(host: host)
            options.captureFile = captureFile
            options.faults = faults
            options.isRecovering = isRecovering
            options.report = report
            options.bonds = bonds
            options.reportBonds = reportBonds
            let log = EventLog(logger)
            options.reportRetry = { log.retryFailed($0) }
            return options
        }
    }

    let router: EventRouter
    private let ownsRunner: Bool

    /// Makes an adapter on a controller that may have other users. It has its own calls, connections, scans, services
    /// and advertisement. The links to a peer and the radio are shared. Closing it does not affect the others.
    ///
    /// - Parameter logger: takes what `Options.logger` does, but for attempts to get the controller back.
    public convenience init(_ runner: AdapterRunner, logger: Logger = Options().logger) {
        self.init(runner, ownsRunner: false, logger: logger)
    }

    init(_ runner: AdapterRunner, ownsRunner: Bool, logger: Logger) {
        router = EventRouter(runner, EventLog(logger))
        self.ownsRunner = ownsRunner
        router.state.withLock { $0.adapter = self }
        router.attach()
    }

    deinit {
        router.shutDown(.adapterClosed)
        // The adapter's own thread may release the last reference to this.
        if ownsRunner { router.runner.beginClosing() } else { router.detach() }
    }

    /// Opens an adapter and brings its controller up.
    ///
    /// - Parameters:
    ///   - transport: where the controller is, such as `hci-socket:0` or `tcp-client:127.0.0.1:6402`.
    ///   - options: further options.
    /// - Throws: `.transport` if the transport cannot be opened, `.adapter` if the controller cannot be used,
    ///   `.cancelled`.
    public static func open(
        _ transport: TransportName, options: Options = Options()
    ) async throws(BluetoothError) -> Adapter {
        // A name does not identify a radio in this process. Its port does.
        guard transport != .virtual else {
            throw .transport(TransportError(.notASocket, transport: "\(transport)"))
        }
        var runner = options.runner
        // Others than this machine may have the same controller, or another one of the same address: a virtual one has none of
        // its own.
        if runner.bonds == nil, transport.isOfThisMachine {
            do throws(BondStoreError) {
                runner.bonds = try FileBondStore()
            } catch {
                // Without a place to keep them, bonds last as long as the adapter. Whoever makes none need not know.
                runner.missingBondStore = error
            }
        }
        return try await open(try AdapterRunner(transport, options: runner), options.logger)
    }

    /// Opens the adapter that `BLUETOOTH_TRANSPORT` in the environment names, else the machine's first.
    ///
    /// - Throws: `.transport` if the variable names no transport or it cannot be opened, `.adapter` if the controller
    ///   cannot be used, `.cancelled`.
    public static func open(options: Options = Options()) async throws(BluetoothError) -> Adapter {
        let transport: TransportName
        do throws(TransportNameError) {
            transport = try .preferred
        } catch {
            throw .transport(
                TransportError(.invalidEnvironment(error), transport: TransportName.environmentVariable))
        }
        return try await open(transport, options: options)
    }

    /// Opens an adapter on a controller in this process, such as one of a `VirtualRadio`.
    public static func open(
        _ port: some PacketPort, options: Options = Options()
    ) async throws(BluetoothError) -> Adapter {
        try await open(try AdapterRunner(port, options: options.runner), options.logger)
    }

    static func open(
        _ runner: AdapterRunner, _ logger: Logger = Options().logger
    ) async throws(BluetoothError) -> Adapter {
        let adapter = Adapter(runner, ownsRunner: true, logger: logger)
        do throws(BluetoothError) {
            try await adapter.waitUntilReady()
        } catch {
            await adapter.close()
            throw error
        }
        return adapter
    }

    /// What it stands on.
    package var runner: AdapterRunner { router.runner }

    /// Waits until the controller is ready: opened, or back.
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

    /// What the controller can do, and the address this adapter uses; nil while there is no controller.
    public var information: ControllerInformation? {
        get async { router.runner.information }
    }

    /// Ends everything and releases the transport. Pending and later calls throw `.adapterClosed`. The links are disconnected,
    /// so peers learn of it at once. A controller that does not report their end within half a second is released anyway.
    ///
    /// Returns when the transport is released and bonds are stored. A disk that takes longer than 3 seconds is not waited for. On a
    /// radio with manual time it returns at once, and the links are disconnected as time passes.
    ///
    /// An adapter that is no longer referenced closes in the background. Call this before you open the same transport again. A
    /// shared runner, and its transport, stay open.
    public func close() async {
        router.shutDown(.adapterClosed)
        if ownsRunner { await router.runner.closeAndWait() } else { router.detach() }
    }
}
