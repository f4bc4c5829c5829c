import ArgumentParser
import BluetoothLE
import BluetoothCommandLine

/// `ble pair`: pairs with a device, or encrypts the link with its bond's keys, and prints how strong the keys are.
struct Pair: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Pairs with a device, or encrypts the link with the keys of its bond, and prints their strength.",
        discussion: HelpText.discussion(
            """
            Questions, such as for a passkey, appear on the terminal. The bond is stored for later connections. Exits \
            with status 3 if the device was not connected in time, and with status 4 if pairing failed or the device \
            has lost the keys of its bond. In the latter case, use ble bonds remove, and pair again.
            """,
            examples: ["ble pair C0:11:22:33:44:55", "ble pair Thermometer --io keyboard --passkey 042195"]))

    @OptionGroup var transport: TransportOptions

    @OptionGroup var agent: AgentOptions

    @OptionGroup var device: DeviceOptions

    @Flag(help: "Pair even if there is a bond, to renew its keys. Weaker keys are never accepted.")
    var renew = false

    @Option(
        name: .customLong("read"),
        help: ArgumentHelp("Then read the value of this characteristic and print its octets.", valueName: "uuid"))
    var characteristic: BluetoothUUID?

    func run() async throws {
        // The last output, kept across attempts: another attempt renews no keys, and prints only changes.
        var printed: String?
        try await transport.withAdapter(within: device.timeout, configure: agent.apply) { adapter, attempts in
            try await agent.withAgent(on: adapter, reportsEnd: false) {
                let search = DeviceSearch(attempts)
                try await attempts.run(on: adapter) {
                    let connection = try await search.connect(to: device.device, on: adapter)
                    let events = adapter.events()
                    var request = agent.request
                    request.renewsKeys = renew && printed == nil
                    try await connection.pair(request)
                    let security = connection.security
                    if printed == nil {
                        printed = try await printProtection(of: connection, on: adapter, events)
                    }
                    if let characteristic {
                        let values = try await attempts.answer(of: connection) { () throws(BluetoothError) in
                            try await connection.readValues(of: characteristic)
                        }
                        for value in values { try writeLine(value.value.hexadecimal()) }
                        // The value may have required stronger keys than the link had.
                        if connection.security != security {
                            printed = try await printProtection(of: connection, on: adapter, events)
                        }
                    }
                    try? await connection.disconnect()
                }
            }
        }
    }

    private func printProtection(
        of connection: Connection, on adapter: Adapter, _ events: EventSequence<AdapterEvent>
    ) async throws -> String {
        let protection = try await protection(of: connection, on: adapter, events)
        try writeLine("\(connection.address): \(protection)")
        return protection
    }

    /// The protection of the link: by a bond, or by a pairing that created none.
    private func protection(
        of connection: Connection, on adapter: Adapter, _ events: EventSequence<AdapterEvent>
    ) async throws -> String {
        let security = connection.security
        guard security.isBonded else {
            for try await case .pairingEnded(connection, .success(let outcome)) in events { return outcome.summary }
            return security.summary
        }
        // The bond may contain the address by which the user selected the device, or another one.
        var names = [connection.peer, PeerID(connection.address)]
        if case .address(let address) = device.device { names.append(PeerID(address)) }
        let bond = try await adapter.bonds.first { names.contains($0.peer) || names.contains(PeerID($0.address)) }
        return bond.map { $0.strength.summary + ", bonded" } ?? security.summary
    }
}
