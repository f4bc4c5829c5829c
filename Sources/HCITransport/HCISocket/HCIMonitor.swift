import BluetoothBase
import BluetoothHCI
import CBluetoothHCI
import BluetoothPlatform

/// What goes over all of the kernel's adapters, and what programs ask of its Bluetooth: the kernel's monitor channel, which
/// btmon reads, too.
///
/// An event loop watches `fileDescriptor` and calls `receive` when it is readable. Needs `CAP_NET_RAW`. Only one thread may
/// use it at a time.
public final class HCIMonitor {
    /// What to watch for reading; -1 once closed.
    public private(set) var fileDescriptor: Int32
    private let calls: MonitorCalls
    private var buffer = [UInt8](repeating: 0, count: headerLength + longestRecord)
    private var packet = ByteWriter(reservingCapacity: longestRecord + 1)

    /// How many octets the kernel may keep for a reader that is busy.
    private static let bufferSize: Int32 = 4 << 20
    /// The opcode, the adapter and the length, in two octets each (`struct hci_mon_hdr`).
    private static let headerLength = 6
    /// What the length can say.
    private static let longestRecord = 0xFFFF
    /// The maximum number of records one `receive` reads.
    static let recordsPerReceive = 64

    /// Begins to listen: the kernel first says which adapters there are.
    ///
    /// Throws `.notPermitted` without `CAP_NET_RAW`, `.bluetoothUnavailable` if the kernel has no Bluetooth sockets.
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

    /// The transport in errors.
    static let name = "monitor"

    deinit { close() }

    /// Reads what there is, without blocking, and hands over each record with its data: of a packet, all of it with the H4
    /// indicator first.
    ///
    /// It reads a bounded number of them: wait again, level-triggered, for the rest. What is no record is skipped.
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

    /// Reads a header, and writes what follows it to `packet`.
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
    /// A socket bound to the monitor channel, for which the kernel keeps so many octets.
    var open: @Sendable (_ bufferSize: Int32) throws(Errno) -> Int32
    /// Reads one record, and when it was made. Returns its length, or a negated error number.
    var receive: @Sendable (Int32, UnsafeMutableRawBufferPointer, _ microsecondsSince1970: inout Int64) -> Int
    var close: @Sendable (Int32) -> Void
    /// The path of the running executable; nil if it runs as root.
    var executable: @Sendable () -> String?

    /// The kernel's.
    static let kernel = MonitorCalls(
        open: { (bufferSize) throws(Errno) in
            let socket = try Socket.hci(adapter: UInt16(HCI_DEV_NONE), channel: HCI_CHANNEL_MONITOR)
            try socket.set(SO_TIMESTAMP, to: 1)
            // As much as the system allows.
            try? socket.set(SO_RCVBUF, to: bufferSize)
            return socket.release()
        },
        receive: { descriptor, buffer, microseconds in
            let count = cbt_receive_timed(descriptor, buffer.baseAddress, buffer.count, &microseconds)
            return count < 0 ? -Int(errno) : count
        },
        close: { _ = BluetoothPlatform.close($0) }, executable: AdapterCalls.kernel.executable)
}
