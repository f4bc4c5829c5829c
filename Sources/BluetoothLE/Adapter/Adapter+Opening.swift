import BluetoothBase
import BluetoothHost
import HCITransport
import VirtualRadio

extension Adapter {
    /// Opens an adapter and brings its controller up.
    ///
    /// - Parameters:
    ///   - transport: where the controller is, such as `hci-socket:0` or `tcp-client:127.0.0.1:6402`; `virtual` is a new
    ///     controller on `VirtualRadio.shared`.
    ///   - options: what else the adapter is to know.
    /// - Throws: `.transport` where the transport cannot be opened, `.adapter` where the controller cannot be used,
    ///   `.cancelled`.
    public static func open(
        _ transport: TransportName, options: Options = Options()
    ) async throws(BluetoothError) -> Adapter {
        try await open(transport, options: options, calls: .system)
    }

    static func open(
        _ transport: TransportName, options: Options, calls: TransportCalls
    ) async throws(BluetoothError) -> Adapter {
        if transport == .virtual { return try await open(VirtualRadio.shared.addController(), options: options) }
        let cancellation: Waker
        do { cancellation = try Waker() } catch { throw .transport(error) }
        let source = ControllerSource.transport(transport, calls)
        return try await open(options, clock: SystemClock(), source: source) { _ throws(TransportError) in
            try calls.open(transport, cancellation)
        } onCancel: {
            cancellation.wake()
        }
    }

    /// Starts an adapter on whatever transport `connect` opens. That is called on the adapter's own thread, and may wait
    /// there until `onCancel`.
    static func open(
        _ options: Options, clock: any AdapterClock, source: ControllerSource,
        connect: @escaping @Sendable (isolated Adapter) throws(TransportError) -> any HCITransport,
        onCancel: @escaping @Sendable () -> Void
    ) async throws(BluetoothError) -> Adapter {
        let adapter: Adapter
        do throws(TransportError) {
            let executor = try AdapterExecutor()
            adapter = Adapter(executor: executor, clock: clock, source: source, options: options)
            try executor.start(driving: adapter)
        } catch {
            throw .transport(error)
        }
        do throws(BluetoothError) {
            let result = await withTaskCancellationHandler {
                await adapter.attach(options, connect)
            } onCancel: {
                onCancel()
            }
            try result.get()
            try await adapter.waitUntilReady()
            return adapter
        } catch {
            await adapter.close()
            throw error
        }
    }

    private func attach(
        _ options: Options, _ connect: @Sendable (isolated Adapter) throws(TransportError) -> any HCITransport
    ) -> Result<Void, BluetoothError> {
        do throws(TransportError) {
            // The file comes first: without it nothing is to be sent.
            if let path = options.captureFile { capture = try CaptureFile(path: path) }
            let transport = try connect(self)
            state = .open(recorded(transport))
            host.start(at: now)
            return .success(())
        } catch {
            return .failure(error.reason == .cancelled ? .cancelled : .transport(error))
        }
    }

    /// A transport whose packets go into the capture, where there is one.
    func recorded(_ transport: any HCITransport) -> any HCITransport {
        capture.map { CapturedTransport(transport, to: $0) } ?? transport
    }

    private func waitUntilReady() async throws(BluetoothError) {
        guard host.controller == nil else { return }
        try checkOpen()
        try await wait(for: .ready)
    }
}
