import BluetoothBase

extension Air {
    /// The path loss from one controller to another, in decibels. 50 by default.
    public func pathLoss(from sender: ControllerID, to receiver: ControllerID) -> Int {
        Int(propagation[from: sender.index, to: receiver.index])
    }

    /// Sets the path loss between two controllers, in decibels, in both directions. If one end of a link no longer
    /// receives the other, the link is lost after its supervision timeout, unless the path improves before that.
    public mutating func setPathLoss(
        between first: ControllerID, and second: ControllerID, to loss: Int, at now: Instant
    ) {
        fire(at: now)
        propagation[from: first.index, to: second.index] = Int16(clamping: loss)
        propagation[from: second.index, to: first.index] = Int16(clamping: loss)
        refreshContacts(of: first.index, at: now)
        refreshZones(of: first.index, at: now)
    }

    /// Sets the path loss in one direction only.
    public mutating func setPathLoss(
        from sender: ControllerID, to receiver: ControllerID, to loss: Int, at now: Instant
    ) {
        fire(at: now)
        propagation[from: sender.index, to: receiver.index] = Int16(clamping: loss)
        refreshContacts(of: sender.index, at: now)
        refreshZones(of: sender.index, at: now)
    }

    /// The strength at which `receiver` receives `sender`, in dBm; nil if it does not.
    func rssi(from sender: Int, at receiver: Int) -> Int8? {
        let strength =
            Int(controllers[sender].transmitPower) - Int(propagation[from: sender, to: receiver])
        guard controllers[sender].isPresent, controllers[receiver].isPresent,
            strength >= Int(controllers[receiver].configuration.sensitivity)
        else { return nil }
        return Int8(clamping: max(-127, min(20, strength)))
    }

    /// Sets by how much the RSSI that two controllers measure of each other varies, in decibels, up and down. 0 by
    /// default. It has no effect on whether they receive each other.
    public mutating func setRSSIDeviation(
        between first: ControllerID, and second: ControllerID, to deviation: Int
    ) {
        propagation[deviationBetween: first.index, second.index] = max(0, min(127, deviation))
    }

    /// The RSSI that `receiver` reports for `sender`, in dBm; nil if it does not receive it.
    mutating func measuredRSSI(from sender: Int, at receiver: Int) -> Int8? {
        guard let strength = rssi(from: sender, at: receiver) else { return nil }
        let deviation = propagation[deviationBetween: sender, receiver]
        guard deviation > 0 else { return strength }
        let change = controllers[receiver].generator.number(below: 2 * deviation + 1) - deviation
        return Int8(max(-127, min(20, Int(strength) + change)))
    }

    /// Whether two controllers can receive each other.
    func areInRange(_ first: Int, _ second: Int) -> Bool {
        rssi(from: first, at: second) != nil && rssi(from: second, at: first) != nil
    }
}
