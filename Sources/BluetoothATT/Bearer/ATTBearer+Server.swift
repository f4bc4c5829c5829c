import BluetoothBase

// MARK: - Requests of the peer

extension ATTBearer {
    /// Notes that a request has arrived whose answer may take a while, because the application gives it.
    ///
    /// A request that is answered before anything else is received needs no such note.
    /// - Returns: Whether the request may be served. False where another is being served: the client has broken the
    ///   rule that it waits for the response (Core 5.4, Vol 3, Part F, 3.3.2), or the bearer is dead; the request is
    ///   to be dropped.
    public mutating func beginServing(_ opcode: UInt8) -> Bool {
        guard !isDead, servedRequest == nil else { return false }
        servedRequest = opcode
        return true
    }

    /// Notes that the request being served is being answered.
    /// - Returns: Whether there was one, so that the answer may be sent.
    public mutating func endServing() -> Bool {
        guard servedRequest != nil else { return false }
        servedRequest = nil
        return true
    }
}

// MARK: - Our indications

extension ATTBearer {
    /// Whether an indication of ours waits for its confirmation.
    @inlinable
    public var isIndicationInFlight: Bool { indicationDeadline != nil }

    /// Whether an indication may be sent now.
    @inlinable
    public var isReadyForIndication: Bool { !isDead && indicationDeadline == nil }

    /// Notes that an indication is being sent: it must be confirmed within 30 seconds, and no other may be sent before
    /// (Core 5.4, Vol 3, Part F, 3.3.2 and 3.3.3).
    @inlinable
    public mutating func beginIndication(at now: Instant) throws(Refusal) {
        guard !isDead else { throw .dead }
        guard indicationDeadline == nil else { throw .busy }
        indicationDeadline = now.advanced(by: Self.transactionTimeout)
    }

    /// Notes that a confirmation has arrived.
    /// - Returns: Whether it confirms an indication of ours; a stray one is to be ignored.
    @inlinable
    public mutating func completeIndication() -> Bool {
        guard indicationDeadline != nil else { return false }
        indicationDeadline = nil
        return true
    }
}
