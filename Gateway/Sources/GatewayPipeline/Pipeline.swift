import BluetoothBase
import BluetoothGAP
import BluetoothValues

/// The path from an advertising packet to a report: filter, decode, drop repetitions, average, limit the rate.
///
/// A pipeline is a value: it reads no clock and starts no tasks. Its owner passes packets to it, and calls `advance`
/// regularly for reports that wait. Regardless of the number of devices and packets, it remembers at most
/// `PipelineSettings.capacity` devices.
public struct Pipeline: Sendable {
    /// The settings, which are fixed when the pipeline is created.
    public let settings: PipelineSettings
    /// The numbers of packets, reports and devices so far.
    public private(set) var counters = PipelineCounters()

    private let decoder: Decoder
    private var devices: DeviceTable
    private var bucket: TokenBucket

    /// Creates a pipeline that has heard no devices yet.
    public init(_ settings: PipelineSettings) {
        self.settings = settings
        decoder = Decoder(keys: settings.keys)
        devices = DeviceTable(capacity: settings.capacity)
        bucket = TokenBucket(rate: settings.totalRate, burst: settings.totalBurst)
    }

    /// The number of devices that were heard recently.
    public var deviceCount: Int { devices.count }

    // MARK: - Packets

    /// Processes a packet, and returns the reports to publish now.
    public mutating func receive(_ reception: Reception, at time: WallTime) -> [Report] {
        counters.received += 1
        guard settings.filter.accepts(reception) else {
            counters.filtered += 1
            return []
        }
        var reports: [Report] = []
        let slot = slot(of: reception, time, &reports)
        let silence = devices[slot].lastHeard.duration(to: reception.instant)
        devices[slot].lastHeard = reception.instant
        devices[slot].address = reception.address
        devices[slot].isConnectable = reception.isConnectable
        devices[slot].meter.add(reception.rssi, adapter: reception.adapter)

        let isNews = devices[slot].update(reception)
        if isNews || (devices[slot].hasUnnumberedEvents && silence >= PipelineSettings.eventSilence) {
            absorb(slot, reception, time, &reports)
        } else {
            devices[slot].repeatLast(at: reception.instant)
            counters.repeated += 1
        }
        if isDue(slot, reception.instant) { tell(slot, reception.instant, time, &reports) }
        return reports
    }

    /// Processes values that were read from a device over a connection. They remain part of its state as long as the
    /// device is heard. If the device was not heard recently, the values are dropped.
    public mutating func receive(
        _ fields: [AdvertisedField], of device: DeviceAddress, at now: Instant, _ time: WallTime
    ) -> [Report] {
        guard !fields.isEmpty, let slot = devices.use(device.plain) else { return [] }
        devices[slot].mergeRead(fields)
        var reports: [Report] = []
        if isDue(slot, now) { tell(slot, now, time, &reports) }
        return reports
    }

    /// Whether a device was heard recently.
    public func knows(_ device: DeviceAddress) -> Bool { devices.contains(device.plain) }

    /// The slot of a packet's device. If the table is full, a new device replaces the one that was heard the longest
    /// time ago.
    private mutating func slot(of reception: Reception, _ time: WallTime, _ reports: inout [Report]) -> Int {
        let identity = reception.identity.plain
        if let slot = devices.use(identity) { return slot }
        if devices.isFull, let oldest = devices.oldestSlot {
            counters.displaced += 1
            forget(oldest, time, &reports)
        }
        let bucket = TokenBucket(rate: settings.deviceRate, burst: settings.deviceBurst)
        return devices.insert(identity, Device(reception, bucket: bucket))
    }

    /// Decodes new data of a device, and updates its record.
    private mutating func absorb(
        _ slot: Int, _ reception: Reception, _ time: WallTime, _ reports: inout [Report]
    ) {
        let now = reception.instant
        let data = devices[slot].advertisement
        if let name = data.localName?.text { devices[slot].name = name }
        if let company = data.manufacturerData.first?.companyID { devices[slot].companyID = company }
        if settings.comparison == .data { devices[slot].isChanged = true }
        let reading: Reading
        do throws(Decoder.Failure) {
            reading = try decoder.decode(data, from: reception.address)
        } catch {
            devices[slot].skip()
            switch error {
            case .unknown: counters.undecoded += 1
            case .noKey: counters.withoutKey += 1
            }
            // Only the octets of the device are known.
            if settings.tellsUndecoded, devices[slot].format == nil { devices[slot].isChanged = true }
            return
        }
        if devices[slot].repeats(reading, at: now) {
            counters.repeated += 1
            return
        }
        if let counter = reading.encryptionCounter, !devices[slot].accepts(counter: counter, at: now) {
            counters.replayed += 1
            return
        }
        devices[slot].adopt(reading, at: now)
        if !reading.events.isEmpty { tell(reading.events, of: slot, now, time, &reports) }
        guard let window = settings.averaging, !reading.state.isEmpty else {
            devices[slot].merge(reading.state)
            return
        }
        devices[slot].averager.add(reading.state, limit: PipelineSettings.fieldLimit)
        devices.openWindow(slot, until: now.advanced(by: window))
    }

    // MARK: - Time

    /// Performs the work that is due: ends windows, reports states that a rate limit delayed, and forgets silent
    /// devices.
    public mutating func advance(to now: Instant, at time: WallTime) -> [Report] {
        var reports: [Report] = []
        while let (slot, end) = devices.firstWindow, end <= now {
            endWindow(slot)
            if isDue(slot, now) { tell(slot, now, time, &reports) }
        }
        for _ in 0..<devices.waitingCount {
            guard let slot = devices.takeWaiting() else { break }
            tell(slot, now, time, &reports, isNew: false)
        }
        while let slot = devices.oldestSlot, devices[slot].lastHeard.duration(to: now) >= settings.expiry {
            forget(slot, time, &reports)
        }
        return reports
    }

    /// Forgets all devices, and returns the reports that were delayed. It is called when no more packets will follow.
    public mutating func finish(at time: WallTime) -> [Report] {
        var reports: [Report] = []
        while let slot = devices.oldestSlot { forget(slot, time, &reports) }
        return reports
    }

    private mutating func endWindow(_ slot: Int) {
        devices.closeWindow(slot)
        let means = devices[slot].averager.takeMeans()
        devices[slot].merge(means)
    }

    /// Forgets a device. A delayed state is reported first, so that the last published value is the device's last
    /// value.
    private mutating func forget(_ slot: Int, _ time: WallTime, _ reports: inout [Report]) {
        if devices.hasWindow(slot) { endWindow(slot) }
        if isTold(slot), devices[slot].isChanged { reports.append(report(slot, at: devices[slot].lastHeard, time)) }
        devices.remove(slot)
    }

    // MARK: - Reporting

    /// Whether the device is reported at all.
    private func isTold(_ slot: Int) -> Bool { settings.tellsUndecoded || devices[slot].format != nil }

    private func isDue(_ slot: Int, _ now: Instant) -> Bool {
        guard isTold(slot), !devices.isWaiting(slot) else { return false }
        // The first averages are available at the end of the first window.
        if devices.hasWindow(slot), devices[slot].lastReport == nil { return false }
        guard let last = devices[slot].lastReport else { return true }
        return devices[slot].isChanged || last.duration(to: now) >= settings.repetition
    }

    /// Reports a device's state, or makes it wait for a rate limit.
    private mutating func tell(
        _ slot: Int, _ now: Instant, _ time: WallTime, _ reports: inout [Report], isNew: Bool = true
    ) {
        // The shared bucket is checked last: a device over its own limit takes nothing from it.
        var own = devices[slot].bucket
        guard own.take(at: now), bucket.take(at: now) else {
            if isNew { counters.delayed += 1 }
            devices.wait(slot)
            return
        }
        devices[slot].bucket = own
        reports.append(report(slot, at: now, time))
    }

    private mutating func tell(
        _ events: [AdvertisedField], of slot: Int, _ now: Instant, _ time: WallTime, _ reports: inout [Report]
    ) {
        // Each event may become a message.
        let accepted = events.prefix { _ in bucket.take(at: now) }
        counters.droppedEvents += UInt64(events.count - accepted.count)
        guard !accepted.isEmpty else { return }
        var report = Report(.event, devices.identity(at: slot), devices[slot], time)
        report.fields = Array(accepted)
        (report.adapter, report.rssi) = devices[slot].meter.peekBest()
        counters.reported += 1
        reports.append(report)
    }

    private mutating func report(_ slot: Int, at now: Instant, _ time: WallTime) -> Report {
        counters.reported += 1
        devices[slot].lastReport = now
        devices[slot].isChanged = false
        devices[slot].reportedFields = devices[slot].fields
        var report = Report(.state, devices.identity(at: slot), devices[slot], time)
        (report.adapter, report.rssi) = devices[slot].meter.takeBest()
        return report
    }
}

extension Report {
    fileprivate init(_ reason: Reason, _ identity: DeviceAddress, _ device: Device, _ time: WallTime) {
        self.init(
            reason: reason, identity: identity, address: device.address, name: device.name,
            companyID: device.companyID, isConnectable: device.isConnectable, adapter: "", rssi: nil,
            format: device.format, isTriggerBased: device.isTriggerBased, fields: device.fields,
            advertisingData: device.advertisingData,
            scanResponseData: device.scanResponseData, time: time)
    }
}
