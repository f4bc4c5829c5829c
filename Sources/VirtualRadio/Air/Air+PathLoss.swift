import BluetoothBase

extension Air {
    /// How much weaker a transmission from one controller is when it arrives at the other, in decibels. 50 at first.
    public func pathLoss(from sender: ControllerID, to receiver: ControllerID) -> Int {
        Int(propagation[from: sender.index, to: receiver.index])
    }

    /// Sets the path loss between two controllers, in decibels, both ways. A link on which one end no longer hears the
    /// other is lost after its supervision timeout, unless the path gets better before.
    public mutating func setPathLoss(
        between first: ControllerID, and second: ControllerID, to loss: Int, at now: Instant
    ) {
        fire(at: now)
        propagation[from: first.index, to: second.index] = Int16(clamping: loss)
        propagation[from: second.index, to: first.index] = Int16(clamping: loss)
        refreshContacts(of: first.index, at: now)
    }

    /// Sets the path loss one way only.
    public mutating func setPathLoss(
        from sender: ControllerID, to receiver: ControllerID, to loss: Int, at now: Instant
    ) {
        fire(at: now)
        propagation[from: sender.index, to: receiver.index] = Int16(clamping: loss)
        refreshContacts(of: sender.index, at: now)
    }

    /// How strongly `receiver` hears `sender`, in dBm; nil where it does not.
    func rssi(from sender: Int, at receiver: Int) -> Int8? {
        let strength =
            Int(controllers[sender].configuration.transmitPower) - Int(propagation[from: sender, to: receiver])
        guard controllers[sender].isPresent, controllers[receiver].isPresent,
            strength >= Int(controllers[receiver].configuration.sensitivity)
        else { return nil }
        return Int8(clamping: max(-127, min(20, strength)))
    }

    /// Whether two controllers can hold a conversation.
    func canTalk(_ first: Int, _ second: Int) -> Bool {
        rssi(from: first, at: second) != nil && rssi(from: second, at: first) != nil
    }
}
