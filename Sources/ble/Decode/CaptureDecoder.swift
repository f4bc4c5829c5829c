import BluetoothBase
import BluetoothHCI
import BluetoothTrace

/// Converts the records of a capture to lines of text or JSON.
struct CaptureDecoder {
    /// The format of the output.
    enum Format {
        /// Text for users.
        case text
        /// A JSON object for each record, for programs.
        case json
    }

    /// The number of adapters for which fragments are kept. A capture with more adapters loses incomplete PDUs.
    static let maximumAdapters = 64

    private let newTracer: PacketTracer
    private let format: Format
    /// A capture of BlueZ's monitor covers several adapters, whose connection handles are unrelated.
    private var tracers: [UInt16?: PacketTracer] = [:]
    private var start: Int64?
    private var drops: UInt32 = 0
    private var records = 0
    private var output = ""

    /// - Parameter keyOwners: the owners of the keys that links are encrypted with; nil if they should not be shown.
    init(showsKeys: Bool, keyOwners: [UInt128: String]? = nil, format: Format = .text) {
        newTracer = PacketTracer(showsKeys: showsKeys, keyOwners: keyOwners)
        self.format = format
    }

    /// Returns the lines since the last call.
    mutating func takeText() -> [UInt8] {
        defer { output.removeAll(keepingCapacity: true) }
        return [UInt8](output.utf8)
    }

    mutating func append(_ record: BTSnoop.Record, _ packet: Span<UInt8>, _ datalink: BTSnoop.Datalink?) {
        records += 1
        let now = instant(of: record)
        let description = describe(record, packet)
        // Captures without H4 indicators do not count drops.
        let indicatorLength = record.type == nil || datalink == .h4 ? 0 : 1
        let isCutOff = record.originalLength + indicatorLength > packet.count
        switch format {
        case .text: appendText(record, description, isCutOff, at: now)
        case .json: appendJSON(record, description, isCutOff, packet.count, at: now)
        }
        drops = record.cumulativeDrops
    }

    private mutating func describe(_ record: BTSnoop.Record, _ packet: Span<UInt8>) -> PacketDescription {
        if tracers[record.adapter] == nil, tracers.count >= Self.maximumAdapters { tracers.removeAll() }
        if record.type == nil, let opcode = record.monitorOpcode {
            return tracers[record.adapter, default: newTracer]
                .describe(note: packet, opcode: opcode)
        }
        return tracers[record.adapter, default: newTracer]
            .describe(packet, direction: record.tracedDirection)
    }

    private mutating func appendText(
        _ record: BTSnoop.Record, _ description: PacketDescription, _ isCutOff: Bool, at now: Instant
    ) {
        if record.cumulativeDrops > drops {
            output += "(\(record.cumulativeDrops - drops) packets were not captured)\n"
        }
        if let adapter = record.adapter { output += "hci\(adapter) " }
        let isNote = record.type == nil && record.monitorOpcode != nil
        output += description.line(isNote ? nil : record.tracedDirection, at: now)
        output += isCutOff ? " (cut off by the capture)\n" : "\n"
    }

    private mutating func appendJSON(
        _ record: BTSnoop.Record, _ description: PacketDescription, _ isCutOff: Bool, _ length: Int, at now: Instant
    ) {
        var object = JSONObject()
        object.add("number", records)
        object.add("microseconds", now.nanoseconds / 1000)
        object.add("microsecondsSince1970", record.microsecondsSince1970)
        if record.type != nil || record.monitorOpcode == nil {
            object.add("direction", record.direction == .sent ? "sent" : "received")
        }
        object.add("adapter", record.adapter)
        object.add("monitorOpcode", record.monitorOpcode?.rawValue)
        object.add("cumulativeDrops", record.cumulativeDrops == 0 ? nil : record.cumulativeDrops)
        object.add("isCutOff", isCutOff)
        object.add("length", length)
        description.add(to: &object)
        output += object.text + "\n"
    }

    /// The time since the first record. It is zero if the clock was set back to a time before that.
    private mutating func instant(of record: BTSnoop.Record) -> Instant {
        let start = start ?? record.microsecondsSince1970
        self.start = start
        let microseconds = record.microsecondsSince1970.subtractingReportingOverflow(start)
        let (nanoseconds, overflow) = max(0, microseconds.partialValue).multipliedReportingOverflow(by: 1000)
        return Instant(nanoseconds: overflow || microseconds.overflow ? 0 : UInt64(nanoseconds))
    }
}

extension BTSnoop.Record {
    fileprivate var tracedDirection: PacketTracer.Direction {
        direction == .sent ? .hostToController : .controllerToHost
    }
}
