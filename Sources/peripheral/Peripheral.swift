import ArgumentParser
import BluetoothLE
import BluetoothCommandLine

/// Offers a card, and sends it to every subscriber.
@main
struct Peripheral: CommandLineProgram, CommandWithoutOutput {
    static let configuration = CommandConfiguration(
        commandName: "peripheral", abstract: "Offers a card over Bluetooth LE, to any number of centrals at once.",
        discussion: HelpText.discussion(
            """
            Runs until a signal ends it or, with --once, until a card has been received. If the adapter is unplugged, \
            waits for it and continues. Exits with status 5 if the controller cannot be used at startup.
            """,
            examples: ["peripheral --name Ada --payload card.vcf", "peripheral --pair --encrypted --once"]),
        version: ProgramVersion.line(of: "peripheral"))

    static let service: BluetoothUUID = "E07F0AE8-00BB-47F5-94F4-4A7174EA3032"
    static let card: BluetoothUUID = "9D534E8B-2153-4F6D-B2B0-8C68665A7274"

    @OptionGroup var transport: TransportOptions

    @OptionGroup var pairing: PairingOptions

    @Flag(help: "Only send the card over encrypted links; with --authenticated, over authenticated ones.")
    var encrypted = false

    @Option(help: "The name to advertise.")
    var name = "BCS"

    @Option(help: ArgumentHelp("The card to send. Defaults to a sample card.", valueName: "file"))
    var payload: String?

    @Option(
        help: ArgumentHelp(
            "The number of octets in each notification, or \"mtu\" for the maximum.", valueName: "count"))
    var chunkSize = Subscriber.ChunkSize.octets(20)

    @Flag(help: "Exit after the card has been sent once.")
    var once = false

    func run() async throws {
        let card =
            if let payload {
                try await runInterruptibly { () throws(CommandFailure) in
                    try InputFile.contents(of: payload, maximumSize: 16 << 20)
                }
            } else {
                BusinessCard.json
            }
        try await transport.withAdapter(deviceName: name, isRecovering: true, pairing: pairing) { adapter in
            let characteristic = GATTCharacteristicDefinition(
                uuid: Self.card, properties: .notify, subscription: requirement)
            let service = try await adapter.publish(
                GATTServiceDefinition(uuid: Self.service, characteristics: [characteristic]))

            var advertisement = AdvertisementData()
            advertisement.localName = .complete(name)
            advertisement.serviceUUIDs = [Self.service]
            let complete = advertisement
            try await Attempts.untilTaken(on: adapter) { () throws(BluetoothError) in
                try await adapter.advertise(complete)
            }
            if let information = adapter.information { say("advertising \(name) as \(information.address)") }

            async let _: Void = reportConnections(of: adapter)
            try await serve(card, to: service.characteristics[0].events)
        }
    }

    /// The protection that a link needs for the card.
    private var requirement: GATTPermissions.Requirement {
        switch (pairing.agent.authenticated, pairing.agent.secureConnections) {
        case (true, true): .authenticatedSecureConnections
        case (true, false): .authenticated
        case (false, _): encrypted ? .encrypted : .open
        }
    }

    /// Reports connections and disconnections.
    private func reportConnections(of adapter: Adapter) async throws {
        for try await event in adapter.events() {
            switch event {
            case .connected(let connection): say("\(connection.address) connected")
            case .disconnected(let connection, let reason): say("\(connection.address) disconnected: \(reason)")
            case .resetting(let cause): say("the controller is being reset: \(cause)")
            case .removed(let cause): say("the adapter is gone: \(cause); waiting for it")
            case .ready: say("the controller is ready again")
            case .securityChanged(let connection, let security): say("\(connection.address) is \(security.summary)")
            case .servicesChanged, .nameChanged, .pairingEnded, .bondRefused: break
            }
        }
    }

    /// Sends the card to each subscriber, at its own pace. With `once`, returns when the first has received it.
    private func serve(_ card: [UInt8], to events: EventSequence<CharacteristicEvent>) async throws {
        var transfers: [Subscriber: Task<Bool, Never>] = [:]
        for try await event in events {
            switch event {
            case .subscribed(let subscriber):
                transfers[subscriber] = Task { await send(card, to: subscriber) }
            case .unsubscribed(let subscriber):
                guard let transfer = transfers.removeValue(forKey: subscriber) else { break }
                transfer.cancel()
                guard await transfer.value, once else { break }
                // The central is still waiting for the answer to its last request; it disconnects afterwards.
                _ = try? await withTimeout(Self.disconnectTimeout) { () throws(BluetoothError) in
                    try await subscriber.connection.waitForDisconnection()
                }
                return
            // A bonded central subscribes again when it is ready. The card allows only subscriptions, and only to
            // notifications.
            case .subscriptionRestored, .subscriptionChanged, .written, .dataLost, .readRequested, .writeRequested,
                .authorizationRequested:
                break
            }
        }
    }

    /// The time limit for a central that has received its card to disconnect.
    private static let disconnectTimeout = Duration.seconds(5)

    /// Sends the card to one subscriber, and returns whether all of it was sent.
    private func send(_ card: [UInt8], to subscriber: Subscriber) async -> Bool {
        let peer = subscriber.connection.address
        do {
            say("sending \(counted(card.count, "octet")) to \(peer)")
            try await subscriber.sendMessage(card, chunkSize: chunkSize)
            say("sent \(counted(card.count, "octet")) to \(peer)")
        } catch {
            say("the transfer to \(peer) was interrupted: \(error)")
            return false
        }
        if once, (try? await Task.sleep(for: Self.disconnectTimeout)) != nil {
            try? await subscriber.connection.disconnect()
        }
        return true
    }
}
