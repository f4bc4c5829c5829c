import ArgumentParser
import BluetoothBase
import BluetoothHCI
import BluetoothTrace
import CommandLineSupport

/// `ble decode`: a capture as text, or as JSON.
struct Decode: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prints a btsnoop capture, a line for each packet, down to the ATT PDU.",
        discussion: """
            Times are in seconds since the first packet. With --json there is an object for each packet instead, with \
            its codes, handles and lengths as numbers.
            """)

    @Argument(help: ArgumentHelp("The capture, - for standard input.", valueName: "file"))
    var file: String

    @Flag(help: "Show the keys that were exchanged.")
    var keys = false

    @Flag(help: "Print a JSON object for each packet.")
    var json = false

    func run() async throws {
        let input = try InputFile(path: file)
        var reader = BTSnoopReader()
        var packet = ByteWriter(reservingCapacity: 1024)
        var decoder = CaptureDecoder(showsKeys: keys, format: json ? .json : .text)
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
}
