import BluetoothBase
import BluetoothHCI
import Foundation
import Synchronization

/// The packets between the hosts of a test and their controllers, in memory.
final class PacketCapture: Sendable {
    private struct State {
        var writer = ByteWriter()
        /// The number of packets that no longer fitted.
        var drops: UInt32 = 0
    }

    private let state = Mutex(State())
    /// The time of the origin of instants, in microseconds since 1970.
    private let origin: Int64

    /// The most octets that a capture has, which is enough for some hundred thousand packets.
    static let limit = 1 << 25

    /// - Parameter now: the current instant, if instants are those of the machine's clock. Virtual time starts in 2000,
    ///   so that equal tests have equal captures.
    init(startingAt now: Instant?) {
        let year2000: Int64 = 946_684_800 * 1_000_000
        origin =
            now.map { Int64(Date().timeIntervalSince1970 * 1_000_000) - Int64($0.nanoseconds / 1000) } ?? year2000
        state.withLock { BTSnoopWriter.appendHeader(.monitor, to: &$0.writer) }
    }

    /// Records a packet. Beyond the limit, packets are dropped, because the first ones explain the later ones.
    func record(_ packet: Span<UInt8>, _ direction: BTSnoop.Direction, adapter: UInt16, at instant: Instant) {
        // A closure of `withLock` cannot capture a span.
        let octets = packet.withUnsafeBufferPointer { Array($0) }
        state.withLock { state in
            guard state.writer.count + octets.count < Self.limit else { return state.drops += 1 }
            BTSnoopWriter.appendMonitorRecord(
                octets.span, direction, adapter: adapter,
                microsecondsSince1970: origin + Int64(instant.nanoseconds / 1000), to: &state.writer)
        }
    }

    /// The capture so far, in btsnoop format.
    var data: Data { Data(state.withLock { $0.writer.bytes }) }
}
