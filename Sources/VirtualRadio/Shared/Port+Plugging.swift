import BluetoothBase
import BluetoothHCI

extension VirtualRadio.Port {
    /// Removes the controller, like unplugging a dongle. Its host finds the adapter removed, and its peers lose their
    /// links after the supervision timeout. Does nothing if the controller is already removed.
    ///
    /// A test can use this to check how an application behaves without its adapter:
    ///
    ///     let port = radio.addController()
    ///     let adapter = try await Adapter.open(port)
    ///     port.unplug()   // whatever is pending ends with `.adapterRemoved`
    ///     port.plugIn()   // `AdapterEvent.ready`; advertising goes on
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

    /// Restores the controller to the state in which it was added, except for its faults. Does nothing if the
    /// controller is present.
    public func plugIn() {
        let host = radio.withAir(for: nil) { state, now -> (any PacketPortHost)? in
            guard !state.air[identifier].isPresent else { return nil }
            state.air.returnController(identifier, at: now)
            return state.hosts[identifier]
        }
        if let host { radio.call([host]) }
    }

    /// Whether the controller is present. Like `receive`, this performs everything that is due on the air.
    public var isPluggedIn: Bool {
        radio.withAir(for: identifier) { state, _ in state.air[identifier].isPresent }
    }
}
