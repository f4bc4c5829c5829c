import BluetoothBase
import BluetoothHost
import HCITransport

/// What the adapter's thread does between calls.
extension Adapter: AdapterDriver {
    var now: Instant { clock.now }

    func turn() -> AdapterWish {
        guard case .open(let transport) = state else { return AdapterWish() }
        let now = clock.now
        if let deadline = host.nextDeadline, deadline <= now { host.fire(at: now) }
        // Without a descriptor there is nothing that could tell whether something waits.
        if transport.fileDescriptor < 0 { receive(from: transport) }
        settle(transport)
        return AdapterWish(
            fileDescriptor: transport.fileDescriptor < 0 ? nil : transport.fileDescriptor,
            wantsWrite: transport.wantsWrite, deadline: clock.wakeUp(for: host.nextDeadline))
    }

    func transportIsReady(_ event: EventLoop.Event) {
        guard case .open(let transport) = state else { return }
        do throws(TransportError) {
            if event.isWritable { try transport.flush() }
        } catch {
            return shutDown(.transport(error))
        }
        if event.isReadable { receive(from: transport) }
        // Calls run next, and are to find everybody told of what has happened.
        settle(transport)
    }

    private func receive(from transport: any HCITransport) {
        let now = clock.now
        do throws(TransportError) {
            try transport.receive { packet in self.host.receive(packet, at: now) }
        } catch {
            // What came before the end still counts.
            settle(transport)
            shutDown(.transport(error))
        }
    }

    /// Hands the controller what is for it and tells everybody what has happened, until there is neither.
    private func settle(_ transport: any HCITransport) {
        repeat {
            while let event = host.events.next() { handle(event) }
            guard case .open = state else { return }
            do throws(TransportError) {
                try transport.send(&host.outbox)
            } catch {
                // A controller that does not read what it is sent: the rest follows when it does.
                if case .outputFull = error.reason { return }
                return shutDown(.transport(error))
            }
        } while !host.events.isEmpty
    }
}
