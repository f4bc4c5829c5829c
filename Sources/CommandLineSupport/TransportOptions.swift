import ArgumentParser
import BluetoothLE

/// The options of a program that uses one adapter.
public struct TransportOptions: ParsableArguments, Sendable {
    @Option(
        name: .customLong("transport"),
        help: ArgumentHelp(
            "Where the controller is: hci-socket:ADAPTER, tcp-client:HOST:PORT, tcp-server:HOST:PORT, unix-client:PATH, "
                + "unix-server:PATH, serial:DEVICE[,BAUD][,rtscts] or pty[:LINK].",
            valueName: "name"),
        transform: TransportName.init)
    var name: TransportName

    @Option(help: ArgumentHelp("Record the packets to and from the controller, for Wireshark.", valueName: "file"))
    var btsnoop: String?

    @OptionGroup var bonds: BondOptions

    public init() {}

    public func validate() throws {
        guard name != .virtual else {
            throw ValidationError(
                "a virtual radio inside this program has no other devices; start "
                    + "\"ble radio unix-server:a unix-server:b\", and use --transport unix-client:a"
            )
        }
    }

    /// Opens the adapter, passes it to `body`, and closes it, however `body` ends.
    ///
    /// - Parameters:
    ///   - deviceName: the value of the Device Name characteristic; nil for the library's default.
    ///   - isRecovering: whether to wait for an adapter that is unplugged; otherwise calls throw the reason.
    ///   - pairing: whether to pair, and how; nil for a program that never does.
    public func withAdapter<Value: Sendable>(
        deviceName: String? = nil, isRecovering: Bool = false, pairing: PairingOptions? = nil,
        _ body: (Adapter) async throws -> Value
    ) async throws -> Value {
        var options = Adapter.Options(captureFile: btsnoop)
        options.isRecovering = isRecovering
        options.report = { say("\($0)") }
        options.bonds = bonds.store
        options.reportBonds = { say("\($0)") }
        if let deviceName { options.host.deviceName = deviceName }
        let adapter = try await Adapter.open(name, options: options)
        do {
            let value =
                if let pairing {
                    try await pairing.withAgent(on: adapter) { try await body(adapter) }
                } else {
                    try await body(adapter)
                }
            await leave(adapter)
            return value
        } catch {
            await leave(adapter)
            throw error
        }
    }

    /// Disconnects from the peers, so that none has to wait for its supervision timeout, and closes the adapter.
    private func leave(_ adapter: Adapter) async {
        // A separate task, because the current one may have been cancelled and could not wait.
        await Task {
            await adapter.stopAdvertising()
            await withTaskGroup { group in
                for connection in await adapter.connections {
                    group.addTask {
                        try? await withTimeout(.seconds(1)) { () async throws(BluetoothError) in
                            try await connection.disconnect()
                        }
                    }
                }
            }
            await adapter.close()
        }.value
    }
}
