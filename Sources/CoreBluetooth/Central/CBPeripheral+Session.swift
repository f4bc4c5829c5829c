/// How a connection ends, as far as the application sees it.
extension CBPeripheral {
    /// The session is over. False where it is over already, or another one has begun.
    func endSession(_ ended: PeripheralSession) -> Bool {
        let isCurrent = $session.withLock { session in
            guard session === ended else { return false }
            session = nil
            return true
        }
        guard isCurrent else { return false }
        currentState = .disconnected
        forgetConnection()
        return true
    }

    /// Forgets what held for one connection.
    func forgetConnection() {
        commands = CommandQueue()
        commandLength = 20
        stopNotifying()
        attributes = PeripheralAttributes()
    }

    func stopNotifying() {
        attributes.stopNotifying()
    }

    /// The adapter is off, so there is no connection any more.
    func adapterIsOff() {
        if let session { _ = endSession(session) }
    }
}
