import BluetoothBase
import BluetoothHCI

/// A btsnoop file to which packets are appended as they pass: with H4 indicators (datalink 1002), or, for several
/// adapters, in the format of BlueZ's monitor (datalink 2001).
///
/// Each packet is one write, so recorded packets are in the file even if the process crashes. The path may also name a
/// pipe, for a live analyser. Recording never disturbs the traffic: it stops at the first failure (a full disk, an
/// analyser that left or is too slow), and what is in the file by then stays readable.
public final class CaptureFile {
    /// The error that stopped recording, if any.
    public private(set) var failure: TransportError?
    private let output: CaptureOutput
    private let path: String
    private let datalink: BTSnoop.Datalink
    private let report: (TransportError) -> Void
    private var record = ByteWriter(reservingCapacity: 2048)

    /// Creates or replaces the file, readable only by its owner, because traffic contains secrets. Opening a named pipe
    /// waits for its reader.
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

    /// Adds a packet with its H4 indicator. The time is that of the wall clock, UTC; `adapter` is recorded only if the
    /// file is for several adapters.
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

    /// Adds a record of the kernel's monitor, for a file in that format.
    public func append(_ monitored: BTSnoop.Record, _ packet: Span<UInt8>) {
        precondition(datalink == .monitor)
        guard failure == nil else { return }
        BTSnoopWriter.appendMonitorRecord(monitored, packet, to: &record)
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
