import BluetoothAdapter
import BluetoothBase
import BluetoothHCI
import BluetoothHost
import HCITransport
import Logging
import Synchronization

/// A Bluetooth LE adapter: a controller with this package's host on top of it.
///
/// An adapter can scan, advertise, and be the central of some peers and the peripheral of others, all at once. Every
/// call on an adapter, or on an object from it, ends: it returns its result, or throws a `BluetoothError` when the link
/// drops, the task is cancelled, the adapter is lost or the deadline passes.
///
/// A controller may be unplugged. Pending calls and new calls then throw `.adapterRemoved`, and links and scans end.
/// The adapter waits for its controller at no cost. When the controller is back, the adapter reports
/// `AdapterEvent.ready`, and advertising and published services resume automatically.
///
///     let adapter = try await Adapter.open()
///     let filter = ScanFilter(services: ["180D"])
///     for try await sighting in adapter.scan(for: filter) {
///         let connection = try await adapter.connect(to: sighting)
///         …
///     }
///
/// An adapter is one user of an `AdapterRunner`, whose thread sleeps while it has nothing to do. Several adapters, and
/// users of other kinds, may share a runner.
public final class Adapter: Sendable {
    let router: EventRouter
    private let ownsRunner: Bool

    /// Creates an adapter on a controller that may have other users. It has its own calls, connections, scans, services
    /// and advertisement. It shares the radio, and the link to a peer, with the other users. Closing it does not affect
    /// them.
    ///
    /// - Parameter logger: receives the same messages as the logger of `open`, except for attempts to reopen the
    ///   controller.
    public convenience init(_ runner: AdapterRunner, logger: Logger? = nil) {
        self.init(runner, ownsRunner: false, EventLog(logger))
    }

    init(_ runner: AdapterRunner, ownsRunner: Bool, _ log: EventLog) {
        router = EventRouter(runner, log)
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
    ///   - transport: the transport to the controller, such as `hci-socket:0` or `tcp-client:127.0.0.1:6402`.
    ///   - options: further options.
    ///   - logger: receives events that the application cannot observe otherwise: requests for a characteristic whose
    ///     events have no consumer, dropped sightings, resets of the controller, attempts to reopen it, failed
    ///     pairings, and ciphers that cannot be used. By default, nothing is logged. Messages never contain values,
    ///     keys or names received over the air. A frequent message is logged at its first, second, fourth, eighth
    ///     occurrence and so on, with the metadata `occurrences`. The log handler is called on the adapter's thread, or
    ///     by this call, and must not block.
    /// - Throws: `.transport` if the transport cannot be opened, `.adapter` if the controller cannot be used, or
    ///   `.cancelled`.
    public static func open(
        _ transport: TransportName, options: AdapterOptions = AdapterOptions(), logger: Logger? = nil
    ) async throws(BluetoothError) -> Adapter {
        // A name does not identify a radio in this process. Its port does.
        guard transport != .virtual else {
            throw .transport(TransportError(.notASocket, transport: "\(transport)"))
        }
        var options = options
        // Other machines may use the same controller, or one with the same address: the address of a virtual controller
        // is not unique.
        if options.bonds == nil, transport.isOfThisMachine {
            do throws(BondStoreError) {
                options.bonds = try FileBondStore()
            } catch {
                // Without a place to store them, bonds last as long as the adapter. The error is reported with the
                // first bond that is not stored.
                options.missingBondStore = error
            }
        }
        let log = EventLog(logger)
        return try await open(try AdapterRunner(transport, options: options.reporting(to: log)), log)
    }

    /// Opens the adapter that the environment variable `BLUETOOTH_TRANSPORT` names, or else the machine's first one.
    ///
    /// - Throws: `.transport` if the variable does not name a transport or the transport cannot be opened, `.adapter`
    ///   if the controller cannot be used, or `.cancelled`.
    public static func open(
        options: AdapterOptions = AdapterOptions(), logger: Logger? = nil
    ) async throws(BluetoothError) -> Adapter {
        let transport: TransportName
        do throws(TransportNameError) {
            transport = try .preferred
        } catch {
            throw .transport(
                TransportError(.invalidEnvironment(error), transport: TransportName.environmentVariable))
        }
        return try await open(transport, options: options, logger: logger)
    }

    /// Opens an adapter on a controller in this process, such as one of a `VirtualRadio`.
    public static func open(
        _ port: some PacketPort, options: AdapterOptions = AdapterOptions(), logger: Logger? = nil
    ) async throws(BluetoothError) -> Adapter {
        let log = EventLog(logger)
        return try await open(try AdapterRunner(port, options: options.reporting(to: log)), log)
    }

    static func open(_ runner: AdapterRunner, _ log: EventLog = EventLog(nil)) async throws(BluetoothError) -> Adapter {
        let adapter = Adapter(runner, ownsRunner: true, log)
        do throws(BluetoothError) {
            try await adapter.waitUntilReady()
        } catch {
            await adapter.close()
            throw error
        }
        return adapter
    }

    /// The runner that the adapter uses.
    package var runner: AdapterRunner { router.runner }

    /// Waits until the controller is ready: opened, or back after a reset or removal.
    ///
    /// - Throws: the reason why the adapter was closed, or `.cancelled`.
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

    /// The controller's capabilities, and the address that this adapter uses; nil while no controller is available.
    public var information: ControllerInformation? { router.runner.information }

    /// Ends all activity and releases the transport. Pending and later calls throw `.adapterClosed`. The links are
    /// disconnected, so that peers notice the end immediately. A controller that does not report the disconnections
    /// within 0.5 s is released anyway.
    ///
    /// Returns when the transport is released and bonds are stored. If the disk takes longer than 3 s, the remaining
    /// bonds are not waited for. On a radio with manual time, this method returns immediately, and the links are
    /// disconnected as time passes.
    ///
    /// An adapter that is no longer referenced closes in the background. Call this method before you open the same
    /// transport again. A shared runner and its transport stay open.
    public func close() async {
        router.shutDown(.adapterClosed)
        if ownsRunner { await router.runner.closeAndWait() } else { router.detach() }
    }
}

extension AdapterOptions {
    /// These options, with failed attempts to open the controller and missing ciphers logged.
    fileprivate func reporting(to log: EventLog) -> AdapterOptions {
        var options = self
        options.reportRetry = { log.retryFailed($0) }
        options.reportMissingCiphers = { reason in
            log.cannotPair(reason)
            reportMissingCiphers(reason)
        }
        return options
    }
}
