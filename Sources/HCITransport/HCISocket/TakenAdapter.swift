import CBluetoothHCI
import Dispatch

/// An adapter that is ours for a while, and has to be given back as it was found.
struct TakenAdapter: Sendable {
    private let adapter: AdapterInformation
    private let control: AdapterControl
    private let record: AdapterRecord?
    private let wasUp: Bool

    /// How often an adapter is brought down that somebody else brings up.
    static let attempts = 3
    /// How long giving back may hold up whoever closes the transport. Bringing an adapter up takes some tenths of a
    /// second; where the controller does not answer, the kernel waits ten seconds.
    static let patience = Duration.seconds(5)

    /// Opens an adapter's user channel, as a transport that gives the adapter back when it closes.
    static func open(
        _ adapter: AdapterInformation, control: AdapterControl, socketCalls: SocketCalls, patience: Duration = patience
    ) throws(TransportError) -> PacketTransport {
        if case .held(let holder) = adapter.state { throw control.failure(.adapterHeld(by: holder)) }
        let taken = try TakenAdapter(adapter, control: control)
        let channel = try taken.openUserChannel()
        return PacketTransport(
            name: control.name, fileDescriptor: channel, calls: socketCalls,
            reopeningName: adapter.address.map { .hciSocket(.address($0)) }, ending: .adapterRemoved,
            cleanUp: { taken.giveBack(within: patience) })
    }

    private init(_ adapter: AdapterInformation, control: AdapterControl) throws(TransportError) {
        self.adapter = adapter
        self.control = control
        do throws(AdapterRecord.Locked) {
            record = try AdapterRecord.make(for: adapter, in: control.calls.recordDirectories())
        } catch {
            // It is about to give the adapter back, or the kernel would have told.
            throw control.failure(.adapterHeld(by: control.holder(of: adapter)))
        }
        wasUp = adapter.state == .up || record?.wasLeftDown == true
        // Before the adapter is touched, so that there is no moment in which a crash would go unnoticed.
        record?.write(wasUp: wasUp)
    }

    private func openUserChannel() throws(TransportError) -> Int32 {
        var isTouched = false
        do throws(TransportError) {
            var state = adapter.state
            for _ in 0..<Self.attempts {
                // One that is being set up must not be brought down: the kernel would never finish. One that is being
                // brought up is: the kernel does these things one after the other.
                if state == .up {
                    try control.bringDown(adapter)
                    isTouched = true
                }
                do throws(Errno) {
                    return try control.calls.openUserChannel(adapter.index)
                } catch {
                    // It is up, or not ready yet; which of the two has to be asked for.
                    guard error.code == EBUSY else { throw control.failure(error, call: "bind", of: adapter) }
                }
                guard let now = try control.current(adapter) else { throw control.failure(Errno(ENODEV), call: "bind") }
                if case .held(let holder) = now.state { throw control.failure(.adapterHeld(by: holder)) }
                state = now.state
                if state == .initializing { break }
            }
            throw control.failure(state == .up ? .adapterBroughtUp : .adapterInitializing)
        } catch {
            isTouched ? giveBack(within: Self.patience) : record?.leave()
            throw error
        }
    }

    /// Brings the adapter up again where it was up. Returns when that is done, or after `patience`: then it goes on in
    /// the background, and should the process end before, the next program finds the note.
    func giveBack(within patience: Duration) {
        guard wasUp else {
            record?.remove()
            return
        }
        let isDone = DispatchSemaphore(value: 0)
        DispatchQueue.global().async {
            restore()
            isDone.signal()
        }
        _ = isDone.wait(timeout: .now() + .milliseconds(Int(patience / .milliseconds(1))))
    }

    private func restore() {
        do throws(Errno) {
            // An adapter that was unplugged is nobody's; one that has its number now is not ours to bring up.
            if let now = try? control.current(adapter), now.state == .down { try control.bringUp(adapter) }
            record?.remove()
        } catch {
            error.code == ENODEV ? record?.remove() : record?.keep()
        }
    }
}
