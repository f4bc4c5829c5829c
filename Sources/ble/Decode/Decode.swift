import ArgumentParser
import BluetoothBase
import BluetoothHCI
import BluetoothLE
import BluetoothTrace
import BluetoothCommandLine

/// `ble decode`: prints a capture as text or JSON.
struct Decode: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prints a capture, one line per packet, decoded down to the ATT PDU.",
        discussion: HelpText.discussion(
            """
            Reads captures in btsnoop, pcap and pcapng format. Times are in seconds since the first packet. With \
            --json, prints an object for each packet, with its codes, handles and lengths as numbers. With --bonds, \
            each line that passes a key to a controller names the bond that the key belongs to. Only --keys shows the \
            keys themselves.

            With --follow, also shows data that is written to the file later. Exits with status 1 if the capture ends \
            in the middle of a packet.
            """,
            examples: [
                "ble decode capture.btsnoop", "ble decode --json capture.btsnoop | jq -c .",
                "cat capture.pcapng | ble decode -", "ble decode --follow capture.btsnoop",
            ]))

    @Argument(help: ArgumentHelp("The capture, or - for standard input.", valueName: "file"))
    var file: String

    @Flag(help: "Show the keys that were exchanged.")
    var keys = false

    @Flag(help: "Print a JSON object for each packet.")
    var json = false

    @Flag(name: .shortAndLong, help: "Wait for more data at the end of the file, until a signal ends the command.")
    var follow = false

    @Option(
        help: ArgumentHelp(
            "The directory of the bonds whose keys are named. By default, no keys are named.", valueName: "directory"))
    var bonds: String?

    func run() async throws {
        let path = file
        let input = try await runInterruptibly { () throws(CommandFailure) in try InputFile(path: path) }
        var reader = CaptureReader()
        var packet = ByteWriter(reservingCapacity: 1024)
        var decoder = CaptureDecoder(
            showsKeys: keys, keyOwners: try bonds.map { try Self.owners(FileBondStore(directory: $0)) },
            format: json ? .json : .text)
        while true {
            let piece = try await runInterruptibly { () throws(CommandFailure) in try input.read() }
            if piece.isEmpty {
                guard follow else { break }
                try await Task.sleep(for: Self.followingInterval)
                continue
            }
            reader.append(piece.span)
            do throws(DecodingFailure) {
                while let record = try reader.next(into: &packet) {
                    decoder.append(record, packet.span, reader.datalink)
                }
            } catch {
                try writeToStandardOutput(decoder.takeText())
                throw CommandFailure(
                    .usage, "\(file) is not a Bluetooth capture in btsnoop, pcap or pcapng format: \(error)")
            }
            try writeToStandardOutput(decoder.takeText())
        }
        let name = file == "-" ? "standard input" : file
        if reader.skippedCount > 0 {
            say("ble: \(name): skipped \(counted(reader.skippedCount, "packet")) not from a Bluetooth controller")
        }
        guard reader.isAtRecordBoundary else {
            throw CommandFailure(
                reader.datalink == nil ? .usage : .failure,
                reader.datalink == nil
                    ? "\(name) is not a capture: it is too short" : "\(name) ends in the middle of a packet")
        }
        if reader.datalink == nil && reader.skippedCount == 0 {
            throw CommandFailure(.usage, "\(name) is not a Bluetooth capture: it has no packets")
        }
    }

    /// The interval at which the file is checked for more.
    private static let followingInterval = Duration.milliseconds(100)

    /// The owners of the keys in a store.
    private static func owners(_ store: FileBondStore) throws -> [UInt128: String] {
        var owners: [UInt128: String] = [:]
        for (identity, bonds) in try bonds(in: store) {
            for bond in bonds {
                for key in [bond.centralKey, bond.peripheralKey].compactMap(\.self) {
                    owners[key.key] = "the bond of \(identity.address) with \(bond.address)"
                }
            }
        }
        return owners
    }

    private static func bonds(in store: FileBondStore) throws(CommandFailure) -> [(DeviceIdentity, [Bond])] {
        do throws(BondStoreError) {
            var all: [(DeviceIdentity, [Bond])] = []
            for identity in try store.identities() { all.append((identity, try store.bonds(of: identity))) }
            return all
        } catch {
            throw CommandFailure(.usage, "\(error)")
        }
    }
}
