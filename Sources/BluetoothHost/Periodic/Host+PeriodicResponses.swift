import BluetoothBase
import BluetoothHCI

/// Periodic advertising with responses (Core 5.4, Vol 4, Part E, 7.8.125 to 7.8.127).
extension Host {
    // MARK: The advertiser

    /// Provides the data for subevents, as requested by the controller with `HostEvent.Subevents.dataRequested`. The
    /// data is sent once.
    ///
    /// - Throws: `.invalidParameters` if the set does not support responses, or lacks one of the subevents or slots.
    public mutating func setSubeventData(
        _ subevents: [PeriodicSubeventData], of set: AdvertisingHandle, at now: Instant
    ) throws(HostError) {
        guard let responses = advertiser.sets.first(where: { $0.handle == set })?.parameters?.periodic?.responses,
            subevents.allSatisfy({
                $0.isValid && $0.subevent < responses.count
                    && $0.responseSlots.upperBound <= responses.responseSlotCount
            })
        else { throw .invalidParameters }
        // Each command holds as many subevents as fit. Each subevent has a header of four octets, and the command one
        // of two octets.
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

    /// Handles LE Periodic Advertising Subevent Data Request (7.7.65.36).
    mutating func subeventDataRequested(_ request: LEPeriodicAdvertisingSubeventDataRequest) {
        events.append(
            .subevents(
                request.advertisingHandle,
                .dataRequested(first: Int(request.subeventStart), count: Int(request.subeventDataCount))))
    }

    /// Handles LE Periodic Advertising Response Report (7.7.65.37). The fragments of a response arrive one after
    /// another.
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

    /// Selects the subevents to receive, 1 to 128 of them. The selection replaces the previous one.
    ///
    /// - Throws: `.unsupported` if the periodic advertising does not support responses, `.invalidParameters` if it
    ///   lacks one of the subevents.
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

    /// Responds to a report, in a response slot of the same periodic advertising event. The controller drops responses
    /// that are too late.
    ///
    /// - Parameters:
    ///   - data: the data of the response, at most 251 octets.
    ///   - report: the report to respond to.
    ///   - subevent: the subevent in which to respond; nil for that of the report.
    ///   - slot: the response slot within the subevent.
    public mutating func respond(
        _ data: [UInt8], to report: PeriodicReport, in subevent: Int? = nil, slot: Int,
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

/// Reassembles the fragments of responses. The fragments of different responses are not interleaved.
struct PeriodicResponseAssembly: Sendable {
    struct Source: Equatable, Sendable {
        var set: AdvertisingHandle
        var subevent: UInt8
        var slot: UInt8
    }

    enum Outcome {
        case incomplete
        case lost
        /// The data of the earlier fragments as well; empty if the last fragment contains all data.
        case whole([UInt8], isTruncated: Bool)
    }

    private var source: Source?
    private var partial: [UInt8] = []

    /// The maximum length of a response (Vol 4, Part E, 7.8.126).
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
