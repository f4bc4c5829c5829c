import BluetoothBase
import BluetoothHCI

/// Periodic advertising with responses (Core 5.4, Vol 4, Part E, 7.8.125 to 7.8.127).
extension Host {
    // MARK: The advertiser

    /// Gives the controller what to send in subevents, for which it has asked with `HostEvent.Subevents.dataRequested`. Data is sent
    /// once.
    ///
    /// - Throws: `.invalidParameters` for a set without responses, or subevents or slots that it does not have.
    public mutating func setSubeventData(
        _ subevents: [PeriodicSubeventData], of set: AdvertisingHandle, at now: Instant
    ) throws(HostError) {
        guard let responses = advertiser.sets.first(where: { $0.handle == set })?.parameters?.periodic?.responses,
            subevents.allSatisfy({
                $0.isValid && $0.subevent < responses.count
                    && $0.responseSlots.upperBound <= responses.responseSlotCount
            })
        else { throw .invalidParameters }
        // As many in each command as fit, with four octets of header each behind the two of the command.
        var command = LESetPeriodicAdvertisingSubeventData(advertisingHandle: set, subevents: [])
        var left = Self.subeventRoom
        for subevent in subevents {
            let length = subevent.data.count + 4
            if length > left || command.subevents.count == 15 {
                try sendForSync(command, at: now)
                command.subevents = []
                left = Self.subeventRoom
            }
            left -= length
            command.subevents.append(
                .init(
                    number: UInt8(clamping: subevent.subevent),
                    responseSlotStart: UInt8(clamping: subevent.responseSlots.lowerBound),
                    responseSlotCount: UInt8(clamping: subevent.responseSlots.count), data: subevent.data))
        }
        if !command.subevents.isEmpty { try sendForSync(command, at: now) }
    }

    private static let subeventRoom = 253

    /// LE Periodic Advertising Subevent Data Request (7.7.65.36).
    mutating func subeventDataRequested(_ request: LEPeriodicAdvertisingSubeventDataRequest) {
        events.append(
            .subevents(
                request.advertisingHandle,
                .dataRequested(first: Int(request.subeventStart), count: Int(request.subeventDataCount))))
    }

    /// LE Periodic Advertising Response Report (7.7.65.37). Fragments follow each other.
    mutating func receive(_ reports: consuming LEPeriodicAdvertisingResponseReports) {
        let set = reports.advertisingHandle, subevent = reports.subevent
        while let response = reports.next() {
            let source = PeriodicResponseAssembly.Source(set: set, subevent: subevent, slot: response.slot)
            switch responses.receive(response.data, response.dataStatus, from: source) {
            case .incomplete: continue
            case .lost:
                events.append(
                    .subevents(set, .responseLost(subevent: Int(subevent), slot: Int(response.slot))))
            case .whole(let former, let isTruncated):
                let payload = events.store(former.isEmpty ? response.data : former.span)
                let report = PeriodicReport(
                    rssi: response.rssi, txPowerLevel: response.transmitPower, eventCounter: nil, subevent: subevent,
                    isTruncated: isTruncated, data: payload)
                events.append(
                    .subevents(set, .response(subevent: Int(subevent), slot: Int(response.slot), report)))
            }
        }
    }

    // MARK: The receiver

    /// Chooses the subevents that are received, 1 to 128 of them, in place of those before.
    ///
    /// - Throws: `.unsupported` where the periodic advertising has no responses, `.invalidParameters` for subevents that it lacks.
    public mutating func selectSubevents(
        _ subevents: [Int], of sync: PeriodicSyncIdentifier, at now: Instant
    ) throws(HostError) {
        let handle = try handle(of: sync)
        guard let count = information(of: sync)?.subevents?.count, radio.periodic.contains(.responding) else {
            throw .unsupported(.periodicSubevents)
        }
        guard !subevents.isEmpty, Set(subevents).count == subevents.count,
            subevents.allSatisfy({ (0..<count).contains($0) })
        else { throw .invalidParameters }
        try sendForSync(
            LESetPeriodicSyncSubevent(syncHandle: handle, subevents: subevents.map { UInt8(clamping: $0) }), at: now)
    }

    /// Answers what a report has brought, in a slot of the same event. The controller drops what comes too late.
    ///
    /// - Parameters:
    ///   - report: what is answered.
    ///   - subevent: in which the answer is sent; nil for that of the report.
    ///   - slot: in which of its response slots.
    ///   - data: at most 251 octets.
    public mutating func respond(
        to report: PeriodicReport, in subevent: Int? = nil, slot: Int, _ data: [UInt8],
        of sync: PeriodicSyncIdentifier, at now: Instant
    ) throws(HostError) {
        let handle = try handle(of: sync)
        guard let event = report.eventCounter, let request = report.subevent,
            let count = information(of: sync)?.subevents?.count, radio.periodic.contains(.responding)
        else { throw .unsupported(.periodicSubevents) }
        let subevent = subevent ?? Int(request)
        guard (0..<count).contains(subevent), (0..<255).contains(slot),
            data.count <= LESetPeriodicAdvertisingResponseData.maximumLength
        else { throw .invalidParameters }
        try sendForSync(
            LESetPeriodicAdvertisingResponseData(
                syncHandle: handle, requestEvent: event, requestSubevent: request,
                responseSubevent: UInt8(clamping: subevent), responseSlot: UInt8(clamping: slot), data: data), at: now)
    }
}

/// Puts the fragments of one response together: those of the next begin when it is whole.
struct PeriodicResponseAssembly: Sendable {
    struct Source: Equatable, Sendable {
        var set: AdvertisingHandle
        var subevent: UInt8
        var slot: UInt8
    }

    enum Outcome {
        case incomplete
        case lost
        /// With what came before; empty where the last fragment is all.
        case whole([UInt8], isTruncated: Bool)
    }

    private var source: Source?
    private var partial: [UInt8] = []

    /// The longest response (Vol 4, Part E, 7.8.126).
    private static let maximumLength = LESetPeriodicAdvertisingResponseData.maximumLength

    mutating func receive(_ fragment: Span<UInt8>, _ status: UInt8, from source: Source) -> Outcome {
        if self.source != source { reset() }
        if status == 0xFF {
            reset()
            return .lost
        }
        if status == 0, partial.isEmpty { return .whole([], isTruncated: false) }
        let room = Self.maximumLength - partial.count
        for index in 0..<min(room, fragment.count) { partial.append(fragment[index]) }
        self.source = source
        guard status != 1 else { return .incomplete }
        defer { reset() }
        return .whole(partial, isTruncated: status != 0 || fragment.count > room)
    }

    mutating func reset() {
        source = nil
        partial = []
    }
}
