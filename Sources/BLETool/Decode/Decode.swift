import ArgumentParser
import BluetoothBase
import BluetoothHCI
import BluetoothLE
import BluetoothTrace
import BluetoothCommandLine

/// `ble decode`: a capture as text, or as JSON.
struct Decode: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prints a btsnoop capture, a line for each packet, down to the ATT PDU.",
        discussion: HelpText.discussion(
            """
            Times are in seconds since the first packet. With --json there is an object for each packet instead, with \
            its codes, handles and lengths as numbers. With --bonds, each line that gives a controller a key says with whom \
            the bond is that the key belongs to; the keys themselves are shown with --keys only.
            """,
            examples: [
                "ble decode capture.btsnoop", "ble decode --json capture.btsnoop | jq -c .",
                "cat capture.btsnoop | ble decode -",
            ]))

    @Argument(help: ArgumentHelp("The capture, - for standard input.", valueName: "file"))
    var file: String

    @Flag(help: "Show the keys that were exchanged.")
    var keys = false

    @Flag(help: "Print a JSON object for each packet.")
    var json = false

    @OptionGroup var bonds: BondOptions

    func run() async throws {
        let input = try InputFile(path: file)
        var reader = BTSnoopReader()
        var packet = ByteWriter(reservingCapacity: 1024)
        var decoder = CaptureDecoder(
            showsKeys: keys, keyOwners: try bonds.store.map(Self.owners), format: json ? .json : .text)
        while true {
            let piece = try input.read()
            if piece.isEmpty { break }
            reader.append(piece.span)
            do throws(DecodingFailure) {
                while let record = try reader.next(into: &packet) {
                    decoder.append(record, packet.span, reader.datalink)
                }
            } catch {
                try writeToStandardOutput(decoder.takeText())
                throw CommandFailure(.usage, "\(file) is not a btsnoop capture: \(error)")
            }
            try writeToStandardOutput(decoder.takeText())
        }
        if reader.datalink == nil { throw CommandFailure(.usage, "\(file) is not a btsnoop capture: it is too short") }
        if !reader.isAtRecordBoundary {
            say("ble: \(file == "-" ? "standard input" : file) ends in the middle of a packet")
        }
    }

    /// Whose the keys in a store are.
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
