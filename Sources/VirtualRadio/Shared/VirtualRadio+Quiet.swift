import BluetoothBase
import BluetoothHCI

/// For tests that continue when everything that was sent has arrived.
extension VirtualRadio {
    /// Whether nothing is in progress: no link carries data, and every host has received its controller's packets.
    package var isQuiet: Bool { withAir(for: nil) { state, _ in state.isQuiet } }
}

extension VirtualRadio.State {
    var isQuiet: Bool {
        hosts.keys.allSatisfy { air[$0].outbox.isEmpty }
            && air.links.allSatisfy { link in
                // Data between two controllers that have lost contact never arrives.
                !link.isInUse || !link.hasContact
                    || (link.central.queue.isEmpty && link.peripheral.queue.isEmpty && link.procedures.isEmpty)
            }
    }
}
