import BluetoothBase
import BluetoothHCI
import BluetoothTrace

/// Turns the records of a capture into lines.
struct CaptureDecoder {
    private let showsKeys: Bool
    /// A capture of BlueZ's monitor is of several adapters, whose connection handles have nothing to do with each other.
    private var tracers: [UInt16: PacketTracer] = [:]
    private var start: Int64?
    private var drops: UInt32 = 0
    private var text = ""

    init(showsKeys: Bool) {
        self.showsKeys = showsKeys
    }

    /// The lines since the last call.
    mutating func takeText() -> [UInt8] {
        defer { text.removeAll(keepingCapacity: true) }
        return [UInt8](text.utf8)
    }

    mutating func append(_ record: BTSnoop.Record, _ packet: Span<UInt8>, _ datalink: BTSnoop.Datalink?) {
        if record.cumulativeDrops > drops { text += "(\(record.cumulativeDrops - drops) packets were not captured)\n" }
        drops = record.cumulativeDrops
        if let adapter = record.adapter { text += "hci\(adapter) " }
        text += line(for: record, packet, datalink) + "\n"
    }

    private mutating func line(
        for record: BTSnoop.Record, _ packet: Span<UInt8>, _ datalink: BTSnoop.Datalink?
    ) -> String {
        let now = instant(of: record)
        guard record.type != nil || record.adapter == nil else {
            return "a note of the monitor: \(packet.hexadecimal())"
        }
        let direction: PacketTracer.Direction = record.direction == .sent ? .hostToController : .controllerToHost
        let line = tracers[record.adapter ?? 0, default: PacketTracer(showsKeys: showsKeys)]
            .line(for: packet, direction, at: now)
        // Captures without H4 indicators count none.
        let indicatorLength = datalink == .h4 ? 0 : 1
        return record.originalLength + indicatorLength > packet.count ? line + " (cut off by the capture)" : line
    }

    /// Since the first record. A clock that was set back meanwhile counts as standing still.
    private mutating func instant(of record: BTSnoop.Record) -> Instant {
        let start = start ?? record.microsecondsSince1970
        self.start = start
        let microseconds = record.microsecondsSince1970.subtractingReportingOverflow(start)
        let (nanoseconds, overflow) = max(0, microseconds.partialValue).multipliedReportingOverflow(by: 1000)
        return Instant(nanoseconds: overflow || microseconds.overflow ? 0 : UInt64(nanoseconds))
    }
}
