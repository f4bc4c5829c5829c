import ArgumentParser
import BluetoothLE
import BluetoothCommandLine

/// `ble l2cap`: connects standard input and output to a device, over an L2CAP channel.
struct L2CAP: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "l2cap",
        abstract: "Connects standard input and output to a device over an L2CAP channel.",
        discussion: HelpText.discussion(
            """
            With a device and a PSM, opens a channel to that service. With --listen, offers a service and accepts the \
            first channel that a device opens. Sends standard input to the device, and writes the data from the device \
            to standard output.

            At the end of standard input, the channel is closed once the device has received everything. If standard \
            input was empty, the channel stays open until the device closes it. A channel cannot be closed in only one \
            direction. If both sides send, use --idle on one side and --keep on the other, so that both can finish.

            Exits with status 3 if the device was not connected in time. Exits with status 4 if it refused the \
            channel, was lost, or closed the channel before it had received everything.
            """,
            examples: [
                "# On one machine:", "ble l2cap --listen 0x80 > received", "# On the other:",
                "ble l2cap \"ble l2cap\" 0x80 < file",
            ]))

    @Argument(help: ArgumentHelp("The device's address or exact name. See ble scan.", valueName: "device"))
    var device: DeviceSelector?

    @Argument(help: "The PSM of its service, 1 to 255, such as 0x80.")
    var psm: PSM?

    @Option(
        name: .customLong("listen"),
        help: ArgumentHelp(
            "Offer a service with this PSM, or with any free one, and advertise.", valueName: "psm|any"))
    var offered: OfferedPSM?

    @Flag(help: "With a device: open an enhanced credit-based channel. --listen accepts both kinds.")
    var enhanced = false

    @Flag(help: "With --listen: accept channels only over encrypted links.")
    var encrypted = false

    @Option(help: "With --listen: the name to advertise.")
    var name = "ble l2cap"

    @Flag(help: "Continue after the end of standard input, until the device closes the channel.")
    var keep = false

    @Option(
        help: ArgumentHelp(
            "After the end of standard input, close the channel once the device has sent nothing for this long.",
            valueName: "seconds"))
    var idle: Seconds?

    @Option(help: ArgumentHelp("The time limit for finding the device and connecting.", valueName: "seconds"))
    var timeout = Seconds(30)

    @OptionGroup var transport: TransportOptions
    @OptionGroup var pairing: PairingOptions

    func validate() throws {
        guard !keep || idle == nil else {
            throw ValidationError("--keep never closes the channel, but --idle does; choose one")
        }
        if offered != nil {
            guard device == nil else { throw ValidationError("--listen waits for devices; leave out the device") }
            guard !enhanced else {
                throw ValidationError("--enhanced applies to channels to a device; --listen accepts both kinds")
            }
        } else {
            guard device != nil, psm != nil else {
                throw ValidationError("give a device and the PSM of its service, or --listen")
            }
            guard !encrypted else { throw ValidationError("--encrypted requires --listen") }
        }
    }

    func run() async throws {
        if let offered {
            return try await transport.withAdapter(
                deviceName: name, isRecovering: true, pairing: pairing, timeout: timeout
            ) { adapter in
                guard let channel = try await acceptChannel(offered, on: adapter) else { return }
                say("\(channel.connection.address) opened the channel")
                try await carry(over: channel)
            }
        }
        guard let device, let psm else { return }
        try await transport.withAdapter(within: timeout, pairing: pairing) { adapter, attempts in
            try await carry(over: try await openChannel(to: device, psm, on: adapter, attempts))
        }
    }

    /// Opens a channel, with several attempts if necessary. The transfer itself cannot be repeated.
    private func openChannel(
        to device: DeviceSelector, _ psm: PSM, on adapter: Adapter, _ attempts: Attempts
    ) async throws -> L2CAPChannel {
        let search = DeviceSearch(attempts)
        return try await attempts.run(on: adapter) {
            let connection = try await search.connect(to: device, on: adapter)
            try await pairing.protect(connection)
            return enhanced
                ? try await connection.openChannels(1, to: psm.number)[0]
                : try await connection.openChannel(to: psm.number)
        }
    }

    private func carry(over channel: L2CAPChannel) async throws {
        let ending = keep ? ChannelCarrier.Ending.never : idle.map { .whenIdle($0.duration) } ?? .withInput
        try await ChannelCarrier(channel: channel, ending: ending).run()
    }

    /// Returns the first channel that a device opens. The service is then withdrawn, so that other devices are refused.
    private func acceptChannel(_ offered: OfferedPSM, on adapter: Adapter) async throws -> L2CAPChannel? {
        let service = try await adapter.listen(on: offered.number, requirement: encrypted ? .encrypted : .none)
        var advertisement = AdvertisementData()
        advertisement.localName = .complete(name)
        let complete = advertisement
        try await Attempts.untilTaken(on: adapter) { () throws(BluetoothError) in
            try await adapter.advertise(complete)
        }
        say("listening on PSM \(PSM(number: service.psm)) as \(adapter.information?.address.description ?? "?")")
        for try await channel in service { return channel }
        return nil
    }
}
