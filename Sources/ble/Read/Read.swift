import ArgumentParser
import BluetoothLE
import BluetoothCommandLine

/// `ble read`: reads values of a device.
struct Read: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Reads values of a device.",
        discussion: HelpText.discussion(
            """
            A UUID selects every characteristic that has it. Exits with status 3 if the device was not connected in \
            time or lacks a characteristic, and with status 4 if it refused a read or a value does not have the \
            --format.
            """,
            examples: [
                "ble read C0:11:22:33:44:55 2A19", "ble read Thermometer 2A29 180F/2A19 0x0010 --json",
                "ble read Thermometer --format u16 2A6E",
            ]))

    @OptionGroup var device: DeviceOptions

    @Argument(
        help: ArgumentHelp("The values to read: UUIDs, SERVICE/UUID, or handles such as 0x0010.", valueName: "uuid"))
    var selectors: [AttributeSelector]

    @OptionGroup var output: ValueOutputOptions
    @OptionGroup var transport: TransportOptions
    @OptionGroup var pairing: PairingOptions

    func run() async throws {
        var printer: ValuePrinter?
        // Kept across attempts: values that have been read are not read again.
        var doneCount = 0, isRefused = false
        try await device.withConnection(transport, pairing) { connection, attempts in
            let attributes = try await connection.attributes(selectors, attempts)
            let lines = printer ?? ValuePrinter(ValueLines(options: output, isLabelled: attributes.count > 1))
            printer = lines
            for attribute in attributes.dropFirst(doneCount) {
                let octets: [UInt8]
                do throws(BluetoothError) {
                    octets = try await attempts.answer(of: connection) { () throws(BluetoothError) in
                        try await connection.read(attribute.handle)
                    }
                    doneCount += 1
                } catch {
                    guard error.code == .att else { throw error }
                    say("\(attribute.label): \(error)" + pairing.advice(about: error))
                    isRefused = true
                    doneCount += 1
                    continue
                }
                try lines.show(ValueRecord(attribute, of: connection.address, octets))
            }
        }
        if isRefused || printer?.hasMalformed == true { throw CommandFailure(.linkLost, nil) }
    }
}
