import CBluetoothHCI
import Dispatch

/// An adapter that was taken over from the kernel and must be returned in its original state.
struct TakenAdapter: Sendable {
    private let adapter: AdapterInformation
    private let control: AdapterControl
    private let record: AdapterRecord?
    private let wasUp: Bool

    /// The number of times to bring down an adapter that another program keeps bringing up.
    static let attempts = 3
    /// The longest time that returning the adapter may block the caller that closes the transport. Bringing an adapter
    /// up takes a few tenths of a second; if the controller does not answer, the kernel waits 10 s.
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
            // The other program is about to return the adapter. Otherwise the kernel would have reported it as held.
            throw control.failure(.adapterHeld(by: control.holder(of: adapter)))
        }
        wasUp = adapter.state == .up || record?.wasLeftDown == true
        // Written before the adapter is touched, so that a crash never goes unnoticed.
        record?.write(wasUp: wasUp)
    }

    private func openUserChannel() throws(TransportError) -> Int32 {
        var isTouched = false
        do throws(TransportError) {
            var state = adapter.state
            for _ in 0..<Self.attempts {
                // An adapter that is being set up must not be brought down, or the kernel would never finish. One that
                // is being brought up can be brought down: the kernel does one after the other.
                if state == .up {
                    try control.bringDown(adapter)
                    isTouched = true
                }
                do throws(Errno) {
                    return try control.calls.openUserChannel(adapter.index)
                } catch {
                    // The adapter is up or not ready yet. Query its state to find out.
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

    /// Brings the adapter up again if it was up before. Returns when that is done, or after `timeout`; the work then
    /// continues in the background. If the process ends first, the next program finds the record.
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
            // The adapter may have been unplugged. Another adapter that has its number now must not be brought up.
            if let now = try? control.current(adapter), now.state == .down { try control.bringUp(adapter) }
            record?.remove()
        } catch {
            error.code == ENODEV ? record?.remove() : record?.keep()
        }
    }
}
