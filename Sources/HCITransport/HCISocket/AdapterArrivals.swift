import CBluetoothHCI

/// Reports when an adapter appears, so that one that was unplugged can be opened again without polling.
///
/// An event loop watches `fileDescriptor` and calls `drain` when it is readable. No privileges are required. Only one
/// thread may use an instance at a time.
public final class AdapterArrivals {
    /// The descriptor to watch for reading; -1 once closed.
    public private(set) var fileDescriptor: Int32
    private let calls: SocketCalls

    /// The maximum number of packets one `drain` reads.
    static let packetsPerDrain = 64
    /// The longest relevant packet of the management interface.
    private static let bufferSize = 512

    /// Starts listening.
    ///
    /// Throws `.bluetoothUnavailable` if the kernel has no Bluetooth sockets.
    public convenience init() throws(TransportError) {
        try self.init(open: { () throws(Errno) in try Socket.management().release() })
    }

    init(open: () throws(Errno) -> Int32, calls: SocketCalls = .packet) throws(TransportError) {
        self.calls = calls
        do throws(Errno) {
            fileDescriptor = try open()
        } catch {
            throw TransportError(
                .init(openingAdapter: error, call: "bind", executable: nil), transport: "hci-socket")
        }
    }

    deinit { close() }

    /// Reads the packets that have arrived, without blocking, and returns whether an adapter has become available. An
    /// adapter becomes available when it was plugged in and the kernel has set it up, or when its holder released it.
    ///
    /// Each call reads a bounded amount; wait again, level-triggered, for the rest. A failed attempt to open an adapter
    /// can itself make the kernel announce the adapter again. Drain once after such an attempt, or the attempts never
    /// end.
    ///
    /// If the kernel closes the socket, this instance closes too, and `drain` returns true once.
    public func drain() -> Bool {
        var hasArrival = false
        var buffer = [UInt8](repeating: 0, count: Self.bufferSize)
        for _ in 0..<Self.packetsPerDrain where fileDescriptor >= 0 {
            switch Transfer({ buffer.withUnsafeMutableBytes { calls.receive(fileDescriptor, $0) } }) {
            case .bytes(let count) where count > 0:
                // A packet longer than the buffer is reported with its real length.
                if count <= buffer.count, Self.isArrival(buffer.span.extracting(0..<count)) { hasArrival = true }
            case .wouldBlock: return hasArrival
            case .bytes, .failed:
                close()
                return true
            }
        }
        return hasArrival
    }

    /// Stops listening. Closing again does nothing.
    public func close() {
        guard fileDescriptor >= 0 else { return }
        calls.close(fileDescriptor)
        fileDescriptor = -1
    }

    private static func isArrival(_ bytes: Span<UInt8>) -> Bool {
        switch ManagementPacket(decoding: bytes)?.code {
        case ManagementPacket.Code.indexAdded, ManagementPacket.Code.unconfiguredIndexAdded,
            ManagementPacket.Code.extendedIndexAdded:
            true
        default: false
        }
    }
}
