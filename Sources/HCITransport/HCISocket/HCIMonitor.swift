import BluetoothBase
import BluetoothHCI
import CBluetoothHCI
import BluetoothPlatform

/// The kernel's monitor channel, which btmon also reads. It carries the HCI traffic of all adapters and the management
/// requests of programs.
///
/// An event loop watches `fileDescriptor` and calls `receive` when it is readable. Requires `CAP_NET_RAW`. Only one
/// thread may use an instance at a time.
public final class HCIMonitor {
    /// The descriptor to watch for reading; -1 once closed.
    public private(set) var fileDescriptor: Int32
    private let calls: MonitorCalls
    private var buffer = [UInt8](repeating: 0, count: headerLength + longestRecord)
    private var packet = ByteWriter(reservingCapacity: longestRecord + 1)

    /// The number of octets that the kernel may buffer while the reader is busy.
    private static let bufferSize: Int32 = 4 << 20
    /// The length of the header: opcode, adapter and length, two octets each (`struct hci_mon_hdr`).
    private static let headerLength = 6
    /// The largest value of the length field.
    private static let longestRecord = 0xFFFF
    /// The maximum number of records one `receive` reads.
    static let recordsPerReceive = 64

    /// Starts listening. The kernel first reports the adapters present.
    ///
    /// Throws `.notPermitted` without `CAP_NET_RAW`, and `.bluetoothUnavailable` if the kernel has no Bluetooth
    /// sockets.
    public convenience init() throws(TransportError) { try self.init(calls: .kernel) }

    init(calls: MonitorCalls) throws(TransportError) {
        self.calls = calls
        do throws(Errno) {
            fileDescriptor = try calls.open(Self.bufferSize)
        } catch {
            throw TransportError(
                .init(openingAdapter: error, call: "bind", executable: calls.executable()), transport: Self.name)
        }
    }

    /// The name of the transport in errors.
    static let name = "monitor"

    deinit { close() }

    /// Reads the available records, without blocking, and delivers each one with its data. For a packet, the data is
    /// the complete packet and starts with its H4 indicator.
    ///
    /// Each call reads a bounded number of records; wait again, level-triggered, for the rest. Malformed records are
    /// skipped.
    public func receive(_ deliver: (BTSnoop.Record, Span<UInt8>) -> Void) throws(TransportError) {
        for _ in 0..<Self.recordsPerReceive {
            guard fileDescriptor >= 0 else { throw TransportError(.closed, transport: Self.name) }
            var microseconds: Int64 = 0
            switch Transfer({
                buffer.withUnsafeMutableBytes { calls.receive(fileDescriptor, $0, &microseconds) }
            }) {
            case .bytes(let count) where count > 0:
                let bytes = buffer
                guard let record = read(bytes.span.extracting(0..<min(count, bytes.count)), microseconds) else {
                    continue
                }
                deliver(record, packet.span)
            case .wouldBlock: return
            case .bytes: throw TransportError(.closedByPeer, transport: Self.name)
            case .failed(let error):
                throw TransportError(.init(transferring: error, call: "recvmsg"), transport: Self.name)
            }
        }
    }

    /// Reads a header and writes the data that follows to `packet`.
    private func read(_ bytes: Span<UInt8>, _ microseconds: Int64) -> BTSnoop.Record? {
        var reader = ByteReader(bytes)
        guard let opcode = try? reader.readUInt16(), let adapter = try? reader.readUInt16(),
            let length = try? reader.readUInt16(), length == reader.remaining
        else { return nil }
        let record = BTSnoop.Record(
            monitorOpcode: .init(rawValue: opcode), adapter: adapter, dataLength: Int(length),
            microsecondsSince1970: microseconds)
        packet.removeAll()
        if let type = record.type { packet.append(type.rawValue) }
        packet.append(reader.readRemaining())
        return record
    }

    /// Stops listening. Closing again does nothing.
    public func close() {
        guard fileDescriptor >= 0 else { return }
        calls.close(fileDescriptor)
        fileDescriptor = -1
    }
}

/// The system calls of a monitor, so that tests can replace the kernel.
struct MonitorCalls: Sendable {
    /// Opens a socket bound to the monitor channel, with a receive buffer of `bufferSize` octets in the kernel.
    var open: @Sendable (_ bufferSize: Int32) throws(Errno) -> Int32
    /// Reads one record and its timestamp. Returns the record's length, or a negated error number.
    var receive: @Sendable (Int32, UnsafeMutableRawBufferPointer, _ microsecondsSince1970: inout Int64) -> Int
    var close: @Sendable (Int32) -> Void
    /// The path of the running executable; nil if it runs as root.
    var executable: @Sendable () -> String?

    /// The kernel's calls.
    static let kernel = MonitorCalls(
        open: { (bufferSize) throws(Errno) in
            let socket = try Socket.hci(adapter: UInt16(HCI_DEV_NONE), channel: HCI_CHANNEL_MONITOR)
            try socket.set(SO_TIMESTAMP, to: 1)
            // Best effort: the system may cap the size.
            try? socket.set(SO_RCVBUF, to: bufferSize)
            return socket.release()
        },
        receive: { descriptor, buffer, microseconds in
            let count = cbt_receive_timed(descriptor, buffer.baseAddress, buffer.count, &microseconds)
            return count < 0 ? -Int(errno) : count
        },
        close: { _ = BluetoothPlatform.close($0) }, executable: AdapterCalls.kernel.executable)
}
