import ArgumentParser
import BluetoothLE
import BluetoothCommandLine

/// `ble pair`: pairs with a device, or tries the keys of its bond.
struct Pair: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Pairs with a device, or encrypts the link with the keys of its bond, and says how good they are.",
        discussion: HelpText.discussion(
            """
            What there is to ask, such as a passkey, is asked on the terminal. The bond is kept for the next time. Exits \
            with status 3 if the device was not connected in time, and with 4 if it could not be paired with, or has lost \
            the keys of its bond: remove that here, then, to pair again.
            """,
            examples: ["ble pair C0:11:22:33:44:55", "ble pair Thermometer --io keyboard --passkey 042195"]))

    @OptionGroup var transport: TransportOptions

    @OptionGroup var agent: AgentOptions

    @OptionGroup var device: DeviceOptions

    @Flag(help: "Pair even where there is a bond, for new keys; never for weaker ones.")
    var renew = false

    @Option(
        name: .customLong("read"),
        help: ArgumentHelp("Then read the value of this characteristic, and print its octets.", valueName: "uuid"))
    var characteristic: BluetoothUUID?

    func run() async throws {
        try await transport.withAdapter(timeout: device.timeout) { adapter in
            try await agent.withAgent(on: adapter) {
                let connection = try await device.connect(adapter)
                let events = await adapter.events()
                var request = agent.request
                request.renewsKeys = renew
                try await connection.pair(request)
                try writeLine("\(connection.peer): \(try await protection(of: connection, on: adapter, events))")
                if let characteristic {
                    for value in try await connection.read(characteristic) { try writeLine(value.value.hexadecimal()) }
                }
                try? await connection.disconnect()
            }
        }
    }

    /// How the link is protected: by a bond, or by a pairing that was none.
    private func protection(
        of connection: Connection, on adapter: Adapter, _ events: EventSequence<AdapterEvent>
    ) async throws -> String {
        let security = try await connection.security
        guard security.isBonded else {
            for try await case .pairingEnded(connection, .success(let outcome)) in events { return outcome.summary }
            return security.summary
        }
        // A bond may name the address by which the user named the device, or another one.
        var names = [PeerID(connection.peer)]
        if case .address(let address) = device.device { names.append(PeerID(address)) }
        let bond = try await adapter.bonds.first { names.contains($0.peer) || names.contains(PeerID($0.address)) }
        return bond.map { $0.strength.summary + ", bonded" } ?? security.summary
    }
}
