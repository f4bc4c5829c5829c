import BluetoothBase

// MARK: - Our indications

extension ATTBearer {
    /// Whether one of our indications is waiting for its confirmation.
    @inlinable
    public var isIndicationInFlight: Bool { indicationDeadline != nil }

    /// Whether an indication may be sent now.
    @inlinable
    public var isReadyForIndication: Bool { !isDead && indicationDeadline == nil }

    /// Notes that an indication is being sent: it must be confirmed within 30 seconds, and no other may be sent before
    /// then (Core 5.4, Vol 3, Part F, 3.3.2 and 3.3.3).
    @inlinable
    public mutating func beginIndication(at now: Instant) throws(Refusal) {
        guard !isDead else { throw .dead }
        guard indicationDeadline == nil else { throw .busy }
        indicationDeadline = now.advanced(by: Self.transactionTimeout)
    }

    /// Notes that a confirmation has arrived.
    /// - Returns: Whether it confirms our indication. A stray confirmation must be ignored.
    @inlinable
    public mutating func completeIndication() -> Bool {
        guard indicationDeadline != nil else { return false }
        indicationDeadline = nil
        return true
    }
}
