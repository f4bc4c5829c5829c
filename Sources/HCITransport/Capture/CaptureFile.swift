import BluetoothBase
import BluetoothHCI

/// A btsnoop file to which packets are added as they pass: with H4 indicators (datalink 1002), or, for the packets of
/// several adapters, as BlueZ's monitor writes it (datalink 2001).
///
/// Each packet is one write, so what was recorded is in the file even if the process crashes. The path may also name a
/// pipe, for an analyser that looks on. Recording never disturbs the traffic: at the first failure (a full disk, an
/// analyser that left or is too slow) it stops, and what is in the file up to then stays readable.
public final class CaptureFile {
    /// What went wrong with the file, once something has.
    public private(set) var failure: TransportError?
    private let output: CaptureOutput
    private let path: String
    private let datalink: BTSnoop.Datalink
    private let report: (TransportError) -> Void
    private var record = ByteWriter(reservingCapacity: 2048)

    /// Creates the file, in the place of what is there, readable by its owner only: traffic holds secrets.
    /// Opening a named pipe waits for its reader.
    ///
    /// - Parameters:
    ///   - datalink: `.monitor` for several adapters.
    ///   - report: called once, if recording has to stop.
    public init(
        path: String, datalink: BTSnoop.Datalink = .h4, report: @escaping (TransportError) -> Void = { _ in }
    ) throws(TransportError) {
        self.path = path
        self.datalink = datalink
        self.report = report
        do throws(Errno) {
            output = try CaptureOutput(path: path)
        } catch {
            throw TransportError(.system(call: "open", code: error.code), transport: path)
        }
        BTSnoopWriter.appendHeader(datalink, to: &record)
        if let failure = write() { throw failure }
    }

    /// Adds a packet with its H4 indicator. The time is that of the wall clock, UTC; which adapter the packet is of shows
    /// only where the file is for several.
    public func append(
        _ packet: Span<UInt8>, _ direction: BTSnoop.Direction, adapter: UInt16 = 0, microsecondsSince1970: Int64
    ) {
        guard failure == nil, !packet.isEmpty else { return }
        if datalink == .monitor {
            BTSnoopWriter.appendMonitorRecord(
                packet, direction, adapter: adapter, microsecondsSince1970: microsecondsSince1970, to: &record)
        } else {
            BTSnoopWriter.appendRecord(
                packet, direction, microsecondsSince1970: microsecondsSince1970, to: &record)
        }
        failure = write()
        if let failure { report(failure) }
    }

    private func write() -> TransportError? {
        defer { record.removeAll() }
        do throws(Errno) {
            try output.write(record.span)
            return nil
        } catch {
            return TransportError(.system(call: "write", code: error.code), transport: path)
        }
    }
}
