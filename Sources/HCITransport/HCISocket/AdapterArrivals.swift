import CBluetoothHCI

/// Tells when an adapter has come, so that one that was unplugged can be opened again without asking over and over.
///
/// An event loop watches `fileDescriptor` and calls `drain` when it is readable. It needs no privilege. One thread at a
/// time may use it.
public final class AdapterArrivals {
    /// What to watch for reading; -1 once closed.
    public private(set) var fileDescriptor: Int32
    private let calls: SocketCalls

    /// How many packets one `drain` reads at most.
    static let packetsPerDrain = 64
    /// No packet of the management interface that is of interest here is longer.
    private static let bufferSize = 512

    /// Listens from now on.
    ///
    /// Throws `.bluetoothUnavailable` where the kernel has no Bluetooth sockets.
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

    /// Reads what has arrived, without waiting, and says whether an adapter is there now that was not: one was plugged
    /// in and set up by the kernel, or was given back by whoever held it.
    ///
    /// It reads a bounded amount: wait again, level-triggered, for the rest. An attempt to open an adapter that fails
    /// can itself make the kernel announce the adapter anew; drain once after such an attempt, or it is made for ever.
    ///
    /// Should the kernel take the socket away, this closes itself, and says once that another try is worth it.
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

    /// Stops listening. Closing twice does nothing.
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
