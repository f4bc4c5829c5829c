import BluetoothBase

extension ATTBearer {
    /// The local request that is waiting for its response.
    @inlinable
    public var requestInFlight: ATTOpcode? { transaction?.opcode }

    /// Whether a request may be sent now.
    @inlinable
    public var isReadyForRequest: Bool { !isDead && transaction == nil }

    /// Records that a request is being sent. It must be answered within 30 seconds, and no other request may be sent
    /// before then (Core 5.4, Vol 3, Part F, 3.3.2 and 3.3.3).
    @inlinable
    public mutating func beginRequest(_ opcode: ATTOpcode, at now: Instant) throws(Refusal) {
        guard !isDead else { throw .dead }
        guard opcode.kind == .request else { throw .notARequest }
        guard transaction == nil else { throw .busy }
        transaction = Transaction(opcode: opcode, deadline: now.advanced(by: Self.transactionTimeout))
    }

    /// Matches a received response with the pending request.
    ///
    /// A response that does not answer the request is ignored: the request stays pending until the right response
    /// arrives or it times out.
    /// - Parameter response: The opcode of any response except ATT_ERROR_RSP.
    /// - Returns: The request that is now answered; nil if the response must be ignored.
    @inlinable
    public mutating func completeRequest(with response: ATTOpcode) -> ATTOpcode? {
        guard let request = transaction?.opcode, request.response == response else { return nil }
        transaction = nil
        return request
    }

    /// Matches a received error response with the pending request.
    /// - Returns: The request that has now failed; nil if the error names another request and must be ignored.
    @inlinable
    public mutating func completeRequest(with error: ATTError) -> ATTOpcode? {
        guard let request = transaction?.opcode, request.rawValue == error.requestOpcode else { return nil }
        transaction = nil
        return request
    }
}
