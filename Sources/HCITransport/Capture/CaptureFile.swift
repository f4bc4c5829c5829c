import BluetoothBase
import BluetoothHCI

/// A btsnoop file that records packets as they pass. The file uses H4 indicators (datalink 1002) or, for several
/// adapters, the format of BlueZ's monitor (datalink 2001).
///
/// Each packet is written with one system call, so recorded packets survive a crash of the process. The path may also
/// name a pipe, for a live analyzer. Recording never disturbs the traffic. It stops at the first failure, such as a
/// full disk or an analyzer that has exited or is too slow, and the packets recorded until then stay readable.
public final class CaptureFile {
    /// The error that stopped recording, if any.
    public private(set) var failure: TransportError?
    private let output: CaptureOutput
    private let path: String
    private let datalink: BTSnoop.Datalink
    private let report: (TransportError) -> Void
    private var record = ByteWriter(reservingCapacity: 2048)

    /// Creates or replaces the file. Only its owner can read it, because the traffic contains secrets. Opening a named
    /// pipe blocks until a reader opens it.
    ///
    /// - Parameters:
    ///   - datalink: `.monitor` for several adapters.
    ///   - report: called once, with the error, if recording has to stop.
    public init(
        path: String, datalink: BTSnoop.Datalink = .h4, report: @escaping (TransportError) -> Void = { _ in }
    ) throws(TransportError) {
        self.path = path
        self.datalink = datalink
        self.report = report
        do throws(Errno) {
            output = try CaptureOutput(path: path)
        } catch {
            throw TransportError(.captureNotWritable(code: error.code), transport: path)
        }
        BTSnoopWriter.appendHeader(datalink, to: &record)
        if let failure = write() { throw failure }
    }

    /// Appends a packet, which starts with its H4 indicator. The time is wall-clock time in UTC. `adapter` is recorded
    /// only if the file is for several adapters.
    public func append(
        _ packet: Span<UInt8>, direction: BTSnoop.Direction, adapter: UInt16 = 0, microsecondsSince1970: Int64
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

    /// Appends a record from the kernel's monitor. The file must be in the monitor format.
    public func append(_ packet: Span<UInt8>, as record: BTSnoop.Record) {
        precondition(datalink == .monitor)
        guard failure == nil else { return }
        BTSnoopWriter.appendMonitorRecord(record, packet, to: &self.record)
        failure = write()
        if let failure { report(failure) }
    }

    private func write() -> TransportError? {
        defer { record.removeAll() }
        do throws(Errno) {
            try output.write(record.span)
            return nil
        } catch {
            return TransportError(.captureNotWritable(code: error.code), transport: path)
        }
    }
}
