import BluetoothBase
import BluetoothHCI
import BluetoothHost

/// For tests, which want to go on when everything that was sent has arrived.
extension RunnerCore {
    /// Whether nothing is under way: no packet waits for the controller or for the peer, and no request for its answer.
    /// Attempts to connect and scans do not count, since they may go on for ever.
    var isIdle: Bool {
        mutating get {
            switch shared.currentStatus() {
            case .opening, .resetting: return false
            case .unavailable, .lost, .closed: return true
            case .ready:
                let occupancy = shared.occupancy
                return occupancy.waitingCommands == 0 && occupancy.waitingFrames == 0 && occupancy.takenBuffers == 0
                    && occupancy.clientOperations == 0 && occupancy.pairings == 0
            }
        }
    }

    mutating func endWaitingForIdleness() {
        guard !awaitingIdleness.isEmpty, isIdle else { return }
        for waiter in awaitingIdleness { waiter.resume() }
        awaitingIdleness.removeAll()
    }
}

extension Span<UInt8> {
    /// Whether an HCI packet is an LE Advertising Report (Core 5.4, Vol 4, Part E, 7.7.65.2), H4 indicator first.
    var isAdvertisingReport: Bool {
        count > 3 && self[0] == HCIPacketType.event.rawValue && self[1] == 0x3E && self[3] == 0x02
    }
}
