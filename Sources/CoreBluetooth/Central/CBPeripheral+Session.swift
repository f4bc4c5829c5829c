/// How a connection ends, as far as the application sees it.
extension CBPeripheral {
    /// The session is over. False where it is over already, or another one has begun.
    func endSession(_ ended: PeripheralSession) -> Bool {
        let isCurrent = $currentState.withLock { state in
            guard session === ended else { return false }
            session = nil
            state = .disconnected
            return true
        }
        guard isCurrent else { return false }
        forgetConnection()
        _observers.changed()
        return true
    }

    /// The session has come so far. False where the application wants something else by now.
    func advance(_ advanced: PeripheralSession, from before: CBPeripheralState, to after: CBPeripheralState) -> Bool {
        let isCurrent = $currentState.withLock { state in
            guard session === advanced, state == before else { return false }
            state = after
            return true
        }
        if isCurrent { _observers.changed() }
        return isCurrent
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
