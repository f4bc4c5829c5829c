import BluetoothBase
import BluetoothHost
import HCITransport

/// What the adapter's thread does between calls.
extension Adapter: AdapterDriver {
    var now: Instant { clock.now }

    func turn() -> AdapterWish {
        reopen()
        if let transport { drive(transport) }
        return wish
    }

    private func drive(_ transport: any HCITransport) {
        let now = clock.now
        if let deadline = host.nextDeadline, deadline <= now { host.fire(at: now) }
        // Without a descriptor there is nothing that could tell whether something waits.
        if transport.fileDescriptor < 0 { receive(from: transport) }
        settle(transport)
    }

    /// What to wait for.
    private var wish: AdapterWish {
        if case .closed = state { return AdapterWish() }
        let descriptor = transport?.fileDescriptor ?? recovery.arrivals?.fileDescriptor ?? -1
        return AdapterWish(
            fileDescriptor: descriptor < 0 ? nil : descriptor, watchNumber: watchNumber,
            wantsWrite: transport?.wantsWrite ?? false, deadline: clock.wakeUp(for: nextDeadline))
    }

    /// When the adapter next has something to do by itself.
    var nextDeadline: Instant? { earliest(host.nextDeadline, nextTry) }

    func transportIsReady(_ event: EventLoop.Event) {
        guard let transport else { return arrivalsAreReady() }
        do throws(TransportError) {
            if event.isWritable { try transport.flush() }
        } catch {
            return controllerLost(.transport(error))
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
            if isInUse(transport) { controllerLost(.transport(error)) }
        }
    }

    /// Hands the controller what is for it and tells everybody what has happened, until there is neither.
    private func settle(_ transport: any HCITransport) {
        repeat {
            while let event = host.events.next() { handle(event) }
            guard isInUse(transport) else { return }
            do throws(TransportError) {
                try transport.send(&host.outbox)
            } catch {
                // A controller that does not read what it is sent: the rest follows when it does.
                if case .outputFull = error.reason { return }
                return controllerLost(.transport(error))
            }
        } while !host.events.isEmpty
    }

    /// Whether a transport is still the adapter's: what the host tells of may have ended that.
    private func isInUse(_ used: any HCITransport) -> Bool { transport === used }
}
