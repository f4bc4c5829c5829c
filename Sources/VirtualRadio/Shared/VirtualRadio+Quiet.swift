import BluetoothBase
import BluetoothHCI

/// For tests, which want to go on when everything that was sent has arrived.
extension VirtualRadio {
    /// Whether nothing is under way: no link carries anything, and every host has what its controller has for it.
    package var isQuiet: Bool { withAir(for: nil) { state, _ in state.isQuiet } }

    /// Waits until nothing is under way. Time has to pass for that, so it is not for a radio on manual time.
    package func waitUntilQuiet() async {
        await withCheckedContinuation { continuation in
            withAir(for: nil) { state, _ in
                if state.isQuiet { continuation.resume() } else { state.awaitingQuiet.append(continuation) }
            }
        }
    }
}

extension VirtualRadio.State {
    var isQuiet: Bool {
        hosts.keys.allSatisfy { air[$0].outbox.isEmpty }
            && air.links.allSatisfy { link in
                // What is on its way between two that have lost contact never arrives.
                !link.isInUse || !link.hasContact
                    || (link.central.queue.isEmpty && link.peripheral.queue.isEmpty && link.procedures.isEmpty)
            }
    }

    mutating func endWaitingForQuiet() {
        guard isQuiet else { return }
        for waiter in awaitingQuiet { waiter.resume() }
        awaitingQuiet.removeAll()
    }
}
