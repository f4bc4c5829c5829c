/// What tests do to the adapter that managers use: for `CoreBluetoothTesting`.
package enum AdapterSimulation {
    /// Switches the adapter at a transport off, or on again.
    package static func setPower(_ isOn: Bool, at transport: BluetoothTransport) async {
        await SharedAdapter.at(transport).setPower(isOn)
    }

    /// Takes the permission to use the adapter away, or gives it back.
    package static func setAuthorization(
        _ authorization: CBManagerAuthorization, at transport: BluetoothTransport
    ) async {
        Authorization.$simulated.withLock { $0[transport] = authorization }
        let isAllowed = authorization == .allowedAlways
        await SharedAdapter.at(transport).setPower(isAllowed, stateWhileOff: .unauthorized)
    }
}
