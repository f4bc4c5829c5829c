import BluetoothBase
import BluetoothLE

/// A file with out-of-band data: AD structures in hexadecimal.
struct OutOfBandFile: Sendable {
    let path: String

    /// Longer than any reasonable record.
    private static let maximumLength = 4096

    /// - Throws: a usage failure with the file's name, if it cannot be read or contains no such data.
    func read() throws(CommandFailure) -> OutOfBandRecord {
        let text = String(decoding: try InputFile.contents(of: path, maximumSize: Self.maximumLength), as: UTF8.self)
        guard let octets = [UInt8](hexadecimal: text) else {
            throw CommandFailure(.usage, "\(path): not hexadecimal; write AD structures with two digits per octet")
        }
        do throws(DecodingFailure) {
            return try OutOfBandRecord(decoding: octets.span)
        } catch {
            throw CommandFailure(
                .usage,
                "\(path): no out-of-band data for pairing; a TK value, or a confirmation and a random value, is needed")
        }
    }

    /// - Throws: a failure with the file's name, if it already exists or cannot be written.
    func write(_ record: OutOfBandRecord) throws(CommandFailure) {
        var writer = ByteWriter()
        record.encode(into: &writer)
        try PrivateFile.create(path, Array((writer.bytes.hexadecimal(separator: "") + "\n").utf8))
    }
}
