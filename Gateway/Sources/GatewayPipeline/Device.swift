import BluetoothBase
import BluetoothGAP
import BluetoothValues

/// The pipeline's record of a device.
struct Device: Sendable {
    var address: DeviceAddress
    var isConnectable = false
    var name: String?
    var companyID: UInt16?
    var advertisingData: [UInt8] = []
    var scanResponseData: [UInt8] = []
    var lastHeard: Instant
    var meter = SignalMeter()

    /// The format of its values; nil if none is known. A beacon's format is used only if the device is no sensor.
    private(set) var format: String?
    /// Whether the device advertises only when it is triggered, so that silence means nothing.
    private(set) var isTriggerBased = false
    private var isSensor = false
    /// The state of the device, merged from all its packets.
    var fields: [AdvertisedField] = []
    private var encryption: (counter: UInt32, instant: Instant)?
    /// The last reading in each format, because a device may repeat packets of several formats in turn. Their number is
    /// limited by that of the formats.
    private var lastReadings: [LastReading] = []
    /// The index of the last packet's reading in `lastReadings`; nil if the last packet was not decoded.
    private var latest: Int?

    private struct LastReading: Sendable {
        var format: String
        var mark: Reading.Mark?
        var heard: Instant
    }

    var averager = Averager()

    /// Whether there are changes that have not been reported.
    var isChanged = false
    var reportedFields: [AdvertisedField]?
    var lastReport: Instant?
    var bucket: TokenBucket

    init(_ reception: Reception, bucket: TokenBucket) {
        address = reception.address
        lastHeard = reception.instant
        self.bucket = bucket
    }

    /// Stores the octets of a packet. Returns whether they differ from the previous ones.
    mutating func update(_ reception: Reception) -> Bool {
        // One adapter may have received the scan response, and another not.
        let isResponseNew = !reception.scanResponseData.isEmpty && reception.scanResponseData != scanResponseData
        guard isResponseNew || reception.advertisingData != advertisingData else { return false }
        advertisingData = reception.advertisingData
        if isResponseNew { scanResponseData = reception.scanResponseData }
        return true
    }

    /// The data that the device advertises.
    var advertisement: AdvertisementData {
        AdvertisementData(advertisingData: advertisingData.span, scanResponseData: scanResponseData.span)
    }

    // MARK: - Repetitions

    /// Whether its last packet reported an event without a number that would distinguish it from the next.
    var hasUnnumberedEvents: Bool {
        guard let latest, case .values = lastReadings[latest].mark else { return false }
        return true
    }

    /// Whether a reading repeats the last one in its format. After a silence, an event without a number is a new one.
    mutating func repeats(_ reading: Reading, at now: Instant) -> Bool {
        latest = lastReadings.firstIndex { $0.format == reading.format }
        guard let latest, let mark = lastReadings[latest].mark, mark == reading.mark else { return false }
        let silence = lastReadings[latest].heard.duration(to: now)
        lastReadings[latest].heard = now
        return !hasUnnumberedEvents || silence < PipelineSettings.eventSilence
    }

    /// Records that the last packet was received again.
    mutating func repeatLast(at now: Instant) {
        if let latest { lastReadings[latest].heard = now }
    }

    /// Records that a packet was not decoded.
    mutating func skip() { latest = nil }

    /// Records a reading that is not a repetition.
    mutating func adopt(_ reading: Reading, at now: Instant) {
        if !reading.isBeacon || !isSensor {
            format = reading.format
            isTriggerBased = reading.isTriggerBased
        }
        if !reading.isBeacon { isSensor = true }
        let last = LastReading(format: reading.format, mark: reading.mark, heard: now)
        if let index = lastReadings.firstIndex(where: { $0.format == reading.format }) {
            lastReadings[index] = last
            latest = index
        } else {
            latest = lastReadings.count
            lastReadings.append(last)
        }
    }

    // MARK: - Values

    /// Merges values that were read over a connection into the state.
    mutating func mergeRead(_ newer: [AdvertisedField]) {
        format = format ?? "gatt"
        merge(newer)
    }

    /// Merges values into the state.
    mutating func merge(_ newer: [AdvertisedField]) {
        for field in newer {
            if let index = fields.firstIndex(where: { $0.name == field.name }) {
                fields[index] = field
            } else if fields.count < PipelineSettings.fieldLimit {
                fields.append(field)
            }
        }
        if fields != reportedFields { isChanged = true }
    }

    /// Whether a message's counter is valid: higher than the last one, unless the device was silent for long.
    mutating func accepts(counter: UInt32, at now: Instant) -> Bool {
        if let last = encryption, counter <= last.counter,
            last.instant.duration(to: now) < PipelineSettings.counterSilence
        {
            return false
        }
        encryption = (counter, now)
        return true
    }
}
