import BluetoothBase
import BluetoothHost
import HCITransport

/// The remaining work of a closed adapter, whose users have already been notified. Disconnecting the peers and writing
/// bonds happen at the same time, so that neither waits for the other.
struct Closing {
    /// Nil once the controller is released.
    var disconnection: Disconnection?
    /// When unwritten bond changes are abandoned; nil once all are written.
    var bondDeadline: Instant?
    /// Retained until closing is complete.
    let turns: RunnerTurns?

    /// The time limit for disconnecting. The controller reports a disconnection only when the peer has acknowledged it,
    /// which takes several connection intervals.
    static let limit = Duration.milliseconds(500)
    /// The time limit for writing bonds. It is longer than a store waits for another program, but short enough that an
    /// interrupted program is not killed while it writes.
    static let bondLimit = Duration.seconds(3)

    var isOver: Bool { disconnection == nil && bondDeadline == nil }

    var nextDeadline: Instant? {
        mutating get { earliest(bondDeadline, earliest(disconnection?.deadline, disconnection?.host.nextDeadline)) }
    }

    /// The disconnection of the peers.
    struct Disconnection {
        let transport: any HCITransport
        /// A copy of the host with its links. Its events are ignored.
        var host: Host
        /// When the controller is released even if links remain.
        let deadline: Instant
    }
}

/// Closing an adapter.
extension RunnerCore {
    /// Closes the adapter permanently. Only the first cause counts. Users are notified immediately. The controller is
    /// released when its links are disconnected, or after `Closing.limit`. Bonds are written for up to
    /// `Closing.bondLimit`.
    ///
    /// - Parameter disconnects: false to release the controller immediately, as if the process had ended. Its peers
    ///   then lose their links.
    mutating func close(_ cause: BluetoothError, _ mailbox: Mailbox, disconnects: Bool = true) {
        switch state {
        case .closing, .over: return
        case .closedTransport, .open: break
        }
        mailbox.close()
        recovery.end()
        failure = cause
        turns?.publish(failure: cause)
        let now = clock.now
        let transport = transport
        var closing = Closing(disconnection: disconnects ? disconnection(at: now) : nil, turns: turns)
        state = .over
        shared.controllerLost(at: now)
        if !disconnects { abandonBonds(isReported: false) }
        handOverBonds(at: now)
        shared.setStatus(.closed, at: now)
        // Calls that were posted before the mailbox closed are answered as well.
        while !mailbox.leave() { carryOut(mailbox, at: now) }
        handOverBonds(at: now)
        if isWritingBonds { closing.bondDeadline = now.advanced(by: Closing.bondLimit) }
        if closing.disconnection?.host.hasLinks == false, !needsController(closing) { closing.disconnection = nil }
        // Release the transport first, because a user may reopen it as soon as it is notified.
        if closing.disconnection == nil { transport?.close() }
        state = .closing(closing)
        deliver()
        forgetObservers()
        endWaitingForIdleness()
        if closing.disconnection == nil { turns?.released.reach() }
        // On manual time, packets are sent only in turns. The next turn starts to disconnect.
        deadline = now
        if turns?.isTurnedByPort == false || turns?.isReleased == true { continueClosing(nil) }
    }

    /// A copy of the current host for disconnecting its links; nil without a controller.
    private func disconnection(at now: Instant) -> Closing.Disconnection? {
        guard case .open(let transport) = state, turns?.isDisplaced != true else { return nil }
        return Closing.Disconnection(
            transport: transport, host: shared.host, deadline: now.advanced(by: Closing.limit))
    }

    /// Whether bonds can be written only while the controller is held: on manual time, its port provides the turns.
    private func needsController(_ closing: Closing) -> Bool {
        closing.bondDeadline != nil && closing.turns?.isTurnedByPort == true
    }

    /// Continues to disconnect the peers and to write bonds. Releases the controller when its links are disconnected,
    /// when the time limit expires, or when the controller is lost. Does nothing unless the adapter is closing.
    mutating func continueClosing(_ ready: EventLoop.Event?) {
        guard case .closing(var closing) = state else { return }
        // Clear the state, so that it does not hold a second copy of the host meanwhile.
        state = .over
        let now = clock.now
        continueWriting(&closing, at: now)
        if closing.disconnection != nil { disconnect(&closing, ready, at: now) }
        if closing.disconnection == nil, needsController(closing) || closing.bondDeadline == nil {
            abandonBonds()
            closing.bondDeadline = nil
        }
        guard closing.isOver else {
            deadline = closing.nextDeadline
            state = .closing(closing)
            return
        }
        deadline = nil
        closing.turns?.ended.reach()
    }

    private mutating func continueWriting(_ closing: inout Closing, at now: Instant) {
        guard let deadline = closing.bondDeadline else { return }
        reportBondFailures(at: now)
        if isWritingBonds, now < deadline { return }
        // Has no effect if everything was written.
        abandonBonds()
        closing.bondDeadline = nil
    }

    private func disconnect(_ closing: inout Closing, _ ready: EventLoop.Event?, at now: Instant) {
        guard var disconnection = closing.disconnection.take() else { return }
        let isHeld = needsController(closing)
        if closing.turns?.isDisplaced != true, proceed(with: &disconnection, ready, isHeld: isHeld, at: now) {
            closing.disconnection = disconnection
        } else {
            disconnection.transport.close()
            closing.turns?.released.reach()
        }
    }

    /// Returns whether there is still something to wait for.
    private func proceed(
        with disconnection: inout Closing.Disconnection, _ ready: EventLoop.Event?, isHeld: Bool, at now: Instant
    ) -> Bool {
        let transport = disconnection.transport
        do throws(TransportError) {
            if ready?.isWritable == true { try transport.flush() }
            if ready?.isReadable == true || transport.fileDescriptor < 0 {
                try transport.receive { disconnection.host.receive($0, at: now) }
            }
            disconnection.host.fire(at: now)
            disconnection.host.shutDown(at: now)
            while disconnection.host.events.next() != nil {}
            try transport.send(&disconnection.host.outbox)
        } catch {
            // If only the output is full, the controller may start reading again.
            if case .outputFull = error.reason {} else { return false }
        }
        return (isHeld || !disconnection.host.isShutDown) && now < disconnection.deadline
    }
}
