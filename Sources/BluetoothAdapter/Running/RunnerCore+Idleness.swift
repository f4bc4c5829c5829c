import BluetoothBase
import BluetoothHCI
import BluetoothHost

/// Support for tests that wait until everything that was sent has arrived.
extension RunnerCore {
    /// Whether nothing is pending: no packet waits for the controller or for a peer, and no request waits for its
    /// response. Scans and connection attempts do not count, since they may continue forever.
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
    /// Whether the HCI packet, with its H4 indicator first, is an LE Advertising Report (Core 5.4, Vol 4, Part E,
    /// 7.7.65.2).
    var isAdvertisingReport: Bool {
        count > 3 && self[0] == HCIPacketType.event.rawValue && self[1] == 0x3E && self[3] == 0x02
    }
}
