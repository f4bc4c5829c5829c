import BluetoothBase
import BluetoothHCI
import BluetoothCommandLine
import HCITransport

/// The destination and the form of the monitor's records.
struct MonitorOutput {
    enum Form {
        /// Lines on standard output.
        case text(CaptureDecoder)
        /// A capture on standard output.
        case capture
        /// A capture in a file.
        case file(String)
    }

    private var decoder: CaptureDecoder?
    private var file: CaptureFile?
    /// The octets of a capture that were not written yet.
    private var capture = ByteWriter()

    /// - Throws: an error if the file cannot be created.
    init(_ form: Form) throws(TransportError) {
        switch form {
        case .text(let decoder): self.decoder = decoder
        case .capture: BTSnoopWriter.appendHeader(.monitor, to: &capture)
        case .file(let path): file = try CaptureFile(path: path, datalink: .monitor)
        }
    }

    mutating func append(_ record: BTSnoop.Record, _ packet: Span<UInt8>) {
        if let file {
            file.append(packet, as: record)
        } else if decoder == nil {
            BTSnoopWriter.appendMonitorRecord(record, packet, to: &capture)
        } else {
            decoder?.append(record, packet, .monitor)
        }
    }

    /// Writes the pending output.
    ///
    /// - Throws: an error if the output cannot be written.
    mutating func flush() throws(CommandFailure) {
        if let failure = file?.failure { throw CommandFailure(.failure, "\(failure)") }
        let octets = decoder?.takeText() ?? capture.bytes
        capture.removeAll()
        if !octets.isEmpty { try writeToStandardOutput(octets) }
    }
}
