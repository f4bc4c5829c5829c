import BluetoothBase

// MARK: - Local indications

extension ATTBearer {
    /// Whether a local indication is waiting for its confirmation.
    @inlinable
    public var isIndicationInFlight: Bool { indicationDeadline != nil }

    /// Whether an indication may be sent now.
    @inlinable
    public var isReadyForIndication: Bool { !isDead && indicationDeadline == nil }

    /// Records that an indication is being sent. It must be confirmed within 30 seconds, and no other indication may be
    /// sent before then (Core 5.4, Vol 3, Part F, 3.3.2 and 3.3.3).
    @inlinable
    public mutating func beginIndication(at now: Instant) throws(Refusal) {
        guard !isDead else { throw .dead }
        guard indicationDeadline == nil else { throw .busy }
        indicationDeadline = now.advanced(by: Self.transactionTimeout)
    }

    /// Records that a confirmation has arrived.
    /// - Returns: Whether it confirms a local indication. A stray confirmation must be ignored.
    @inlinable
    public mutating func completeIndication() -> Bool {
        guard indicationDeadline != nil else { return false }
        indicationDeadline = nil
        return true
    }
}
