import CBluetoothHCI
import Dispatch

/// An adapter that was taken from the kernel and must be returned in its original state.
struct TakenAdapter: Sendable {
    private let adapter: AdapterInformation
    private let control: AdapterControl
    private let record: AdapterRecord?
    private let wasUp: Bool

    /// How many times to bring down an adapter that something else keeps bringing up.
    static let attempts = 3
    /// How long returning the adapter may block the caller that closes the transport. Bringing an adapter up takes some
    /// tenths of a second; if the controller does not answer, the kernel waits ten seconds.
    static let timeout = Duration.seconds(5)

    /// Opens an adapter's user channel, as a transport that returns the adapter when it closes.
    static func open(
        _ adapter: AdapterInformation, control: AdapterControl, socketCalls: SocketCalls, timeout: Duration = timeout
    ) throws(TransportError) -> PacketTransport {
        if case .held(let holder) = adapter.state { throw control.failure(.adapterHeld(by: holder)) }
        let taken = try TakenAdapter(adapter, control: control)
        let channel = try taken.openUserChannel()
        return PacketTransport(
            name: control.name, fileDescriptor: channel, calls: socketCalls,
            reopeningName: adapter.address.map { .hciSocket(.address($0)) }, ending: .adapterRemoved,
            cleanUp: { taken.returnAdapter(within: timeout) })
    }

    private init(_ adapter: AdapterInformation, control: AdapterControl) throws(TransportError) {
        self.adapter = adapter
        self.control = control
        do throws(AdapterRecord.Locked) {
            record = try AdapterRecord.make(for: adapter, in: control.calls.recordDirectories())
        } catch {
            // It is about to return the adapter, or the kernel would have reported it.
            throw control.failure(.adapterHeld(by: control.holder(of: adapter)))
        }
        wasUp = adapter.state == .up || record?.wasLeftDown == true
        // Before the adapter is touched, so that a crash never goes unnoticed.
        record?.write(wasUp: wasUp)
    }

    private func openUserChannel() throws(TransportError) -> Int32 {
        var isTouched = false
        do throws(TransportError) {
            var state = adapter.state
            for _ in 0..<Self.attempts {
                // An adapter that is being set up must not be brought down: the kernel would never finish. One that is
                // being brought up can be: the kernel does these things one after the other.
                if state == .up {
                    try control.bringDown(adapter)
                    isTouched = true
                }
                do throws(Errno) {
                    return try control.calls.openUserChannel(adapter.index)
                } catch {
                    // It is up, or not ready yet; its state has to be queried.
                    guard error.code == EBUSY else { throw control.failure(error, call: "bind", of: adapter) }
                }
                guard let now = try control.current(adapter) else { throw control.failure(Errno(ENODEV), call: "bind") }
                if case .held(let holder) = now.state { throw control.failure(.adapterHeld(by: holder)) }
                state = now.state
                if state == .initializing { break }
            }
            throw control.failure(state == .up ? .adapterBroughtUp : .adapterInitializing)
        } catch {
            isTouched ? returnAdapter(within: Self.timeout) : record?.leave()
            throw error
        }
    }

    /// Brings the adapter up again if it was up. Returns when that is done, or after `timeout`: it then continues in
    /// the background. If the process ends before that, the next program finds the record.
    func returnAdapter(within timeout: Duration) {
        guard wasUp else {
            record?.remove()
            return
        }
        let isDone = DispatchSemaphore(value: 0)
        DispatchQueue.global().async {
            restore()
            isDone.signal()
        }
        _ = isDone.wait(timeout: .now() + .milliseconds(Int(timeout / .milliseconds(1))))
    }

    private func restore() {
        do throws(Errno) {
            // The adapter may have been unplugged; another one that has its number now must not be brought up.
            if let now = try? control.current(adapter), now.state == .down { try control.bringUp(adapter) }
            record?.remove()
        } catch {
            error.code == ENODEV ? record?.remove() : record?.keep()
        }
    }
}
