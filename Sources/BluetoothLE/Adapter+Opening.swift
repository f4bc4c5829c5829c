import BluetoothBase
import BluetoothHost
import HCITransport

extension Adapter {
    /// Opens an adapter and brings its controller up.
    ///
    /// - Parameters:
    ///   - transport: where the controller is, such as `hci-socket:0` or `tcp-client:127.0.0.1:6402`.
    ///   - options: what else the adapter is to know.
    public static func open(
        _ transport: TransportName, options: Options = Options()
    ) async throws(BluetoothError) -> Adapter {
        let cancellation = try makeWaker()
        return try await open(options) { () throws(TransportError) in
            try transport.open(cancellation: cancellation)
        } onCancel: {
            cancellation.wake()
        }
    }

    /// Starts an adapter on whatever transport `connect` opens; it is called on the adapter's own thread and may wait there.
    static func open(
        _ options: Options, connect: @escaping @Sendable () throws(TransportError) -> any HCITransport,
        onCancel: @escaping @Sendable () -> Void
    ) async throws(BluetoothError) -> Adapter {
        let adapter: Adapter
        do throws(TransportError) {
            let executor = try AdapterExecutor()
            adapter = Adapter(executor: executor, options: options)
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

    private static func makeWaker() throws(BluetoothError) -> Waker {
        do { return try Waker() } catch { throw .transport(error) }
    }

    private func attach(
        _ options: Options, _ connect: @Sendable () throws(TransportError) -> any HCITransport
    ) -> Result<Void, BluetoothError> {
        do throws(TransportError) {
            var transport = try connect()
            if let path = options.captureFile {
                transport = CapturedTransport(transport, to: try CaptureFile(path: path))
            }
            state = .open(SystemTransport(transport))
            host.start(at: now)
            return .success(())
        } catch {
            return .failure(.transport(error))
        }
    }

    private func waitUntilReady() async throws(BluetoothError) {
        guard host.controller == nil else { return }
        try await wait(for: .ready)
    }

}
