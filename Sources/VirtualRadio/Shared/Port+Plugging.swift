import BluetoothBase
import BluetoothHCI

extension VirtualRadio.Port {
    /// Takes the controller away, as pulling a dongle out would. Its host finds the adapter removed, and the devices it
    /// was connected to miss it after their supervision timeout. Does nothing where it is away already.
    ///
    /// An app's test sees in this way what the app does without its adapter:
    ///
    ///     let port = radio.addController()
    ///     let adapter = try await Adapter.open(port)
    ///     port.unplug()   // whatever is pending ends with `.adapterRemoved`
    ///     port.plugIn()   // `AdapterEvent.ready`; advertising and published services go on
    public func unplug() {
        let host = radio.withAir(for: nil) { state, now -> (any PacketPortHost)? in
            guard state.air[identifier].isPresent else { return nil }
            state.air.removeController(identifier, at: now)
            return state.hosts[identifier]
        }
        guard let host else { return }
        host.unplugged()
        radio.call([host])
    }

    /// Puts the controller back, as it was when it was added, but for its faults. Does nothing where it is there.
    public func plugIn() {
        let host = radio.withAir(for: nil) { state, now -> (any PacketPortHost)? in
            guard !state.air[identifier].isPresent else { return nil }
            state.air.returnController(identifier, at: now)
            return state.hosts[identifier]
        }
        if let host { radio.call([host]) }
    }

    /// Whether the controller is there. Lets everything happen that is due on the air, as `receive` does.
    public var isPluggedIn: Bool {
        radio.withAir(for: identifier) { state, _ in state.air[identifier].isPresent }
    }
}
