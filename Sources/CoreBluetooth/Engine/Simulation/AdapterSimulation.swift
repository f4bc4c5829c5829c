import BluetoothLE

/// What tests do to the adapter that managers use: for `CoreBluetoothTesting`.
package enum AdapterSimulation {
    /// An adapter that is off. It is held, since it has to be off for managers that are yet to be made.
    private struct Off {
        let adapter: SharedAdapter
        var isSwitchedOff: Bool
        var isForbidden: Bool

        var state: CBManagerState { isForbidden ? .unauthorized : .poweredOff }
    }

    @BluetoothEngine private static var off: [BluetoothTransport: Off] = [:]

    /// Switches the adapter at a transport off, or on again.
    package static func setPower(_ isOn: Bool, at transport: BluetoothTransport) async {
        await change(transport, isSwitchedOff: !isOn)
    }

    /// Takes the permission to use the adapter away, or gives it back.
    package static func setAuthorization(
        _ authorization: CBManagerAuthorization, at transport: BluetoothTransport
    ) async {
        Authorization.$simulated.withLock { $0[transport] = authorization }
        await change(transport, isForbidden: authorization != .allowedAlways)
    }

    @BluetoothEngine
    private static func change(
        _ transport: BluetoothTransport, isSwitchedOff: Bool? = nil, isForbidden: Bool? = nil
    ) {
        let before = off[transport]
        var after = before ?? Off(adapter: .at(transport), isSwitchedOff: false, isForbidden: false)
        after.isSwitchedOff = isSwitchedOff ?? after.isSwitchedOff
        after.isForbidden = isForbidden ?? after.isForbidden
        let isOff = after.isSwitchedOff || after.isForbidden
        off[transport] = isOff ? after : nil
        if let before {
            if isOff, before.state == after.state { return }
            before.adapter.setPower(true)
        }
        // Where it was off for another reason it has not been opened meanwhile.
        if isOff { after.adapter.setPower(false, stateWhileOff: after.state) }
    }

    /// Has another program of this device, as far as an application can tell, make a link to a peer, and use it until it
    /// ends.
    package static func connect(
        to peer: DeviceAddress, at transport: BluetoothTransport
    ) async throws(BluetoothError) {
        try await OtherProgram(transport).connect(to: peer)
    }

    /// Forgets what was simulated at a transport that is over.
    package static func forget(_ transport: BluetoothTransport) {
        Authorization.$simulated.withLock { $0[transport] = nil }
        SharedTables.forget(transport)
        BluetoothEngine.run { off[transport] = nil }
    }
}
