import BluetoothBase
import BluetoothHost
import HCITransport

/// The rest of the work for a closed adapter: its users have been notified that it is closed. Its peers are being disconnected and
/// its bonds written at the same time, so that neither waits for the other.
struct Closing {
    /// Nil once the controller is released.
    var disconnection: Disconnection?
    /// When changes of bonds that are not written by then are abandoned; nil once all are written.
    var bondDeadline: Instant?
    /// Alive until then.
    let turns: RunnerTurns?

    /// How long disconnecting may take. A controller reports the end of a link when the peer has acknowledged it, some
    /// connection intervals later.
    static let limit = Duration.milliseconds(500)
    /// How long writing bonds may take: longer than a store waits for another program, and not so long that an interrupted
    /// program is killed for it.
    static let bondLimit = Duration.seconds(3)

    var isOver: Bool { disconnection == nil && bondDeadline == nil }

    var nextDeadline: Instant? {
        mutating get { earliest(bondDeadline, earliest(disconnection?.deadline, disconnection?.host.nextDeadline)) }
    }

    /// The peers are being disconnected.
    struct Disconnection {
        let transport: any HCITransport
        /// The host as it was, with its links. Its events are ignored.
        var host: Host
        /// When the controller is released in any case.
        let deadline: Instant
    }
}

/// The end of an adapter.
extension RunnerCore {
    /// Ends everything, for good. Only the first cause counts. The users are notified at once; the controller is released when its
    /// links are disconnected, or after `Closing.limit`. Bonds are written for up to `Closing.bondLimit`.
    ///
    /// - Parameter disconnects: false releases it at once, as the end of the process would: peers then lose their links.
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
        // Calls posted in time are also answered.
        while !mailbox.leave() { carryOut(mailbox, at: now) }
        handOverBonds(at: now)
        if isWritingBonds { closing.bondDeadline = now.advanced(by: Closing.bondLimit) }
        if closing.disconnection?.host.hasLinks == false, !needsController(closing) { closing.disconnection = nil }
        // Users that are notified may open it again.
        if closing.disconnection == nil { transport?.close() }
        state = .closing(closing)
        deliver()
        forgetObservers()
        endWaitingForIdleness()
        if closing.disconnection == nil { turns?.released.reach() }
        // In manual time nothing is sent outside of turns: the next one begins to disconnect.
        deadline = now
        if turns?.isTurnedByPort == false || turns?.isReleased == true { continueClosing(nil) }
    }

    /// The host as it is, to disconnect its links; nil without a controller.
    private func disconnection(at now: Instant) -> Closing.Disconnection? {
        guard case .open(let transport) = state, turns?.isDisplaced != true else { return nil }
        return Closing.Disconnection(
            transport: transport, host: shared.host, deadline: now.advanced(by: Closing.limit))
    }

    /// Whether bonds can be written only while there is a controller: in manual time its port gives the turns for that.
    private func needsController(_ closing: Closing) -> Bool {
        closing.bondDeadline != nil && closing.turns?.isTurnedByPort == true
    }

    /// Disconnects the peers and writes bonds, as far as that is possible now. Releases the controller when its links are
    /// disconnected, when time is up, or when the controller is gone. Does nothing unless the adapter is closing.
    mutating func continueClosing(_ ready: EventLoop.Event?) {
        guard case .closing(var closing) = state else { return }
        // The state must not hold a second copy of the host meanwhile.
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
        // Nothing, if all is written.
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

    /// Returns whether something is left to wait for.
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
            // The controller may read again.
            if case .outputFull = error.reason {} else { return false }
        }
        return (isHeld || !disconnection.host.isShutDown) && now < disconnection.deadline
    }
}
