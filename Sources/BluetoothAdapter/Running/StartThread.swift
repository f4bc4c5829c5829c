import BluetoothPlatform
import HCITransport

/// Runs `body` on a new thread. The thread ends when `body` returns.
package func startThread(_ body: sending @escaping () -> Void) throws(TransportError) {
    let reference = Unmanaged.passRetained(ThreadBody(run: body))
    var thread = pthread_t()
    let code = pthread_create(
        &thread, nil,
        { reference in
            guard let reference else { return nil }
            CurrentThread.useProgramName()
            Unmanaged<ThreadBody>.fromOpaque(reference).takeRetainedValue().run()
            return nil
        }, reference.toOpaque())
    guard code == 0 else {
        reference.release()
        throw TransportError(.system(call: "pthread_create", code: code), transport: "adapter")
    }
    pthread_detach(thread)
}

private final class ThreadBody {
    let run: () -> Void

    init(run: sending @escaping () -> Void) { self.run = run }
}
