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

    /// The format of its values; nil if none is known.
    var format: String?
    /// Whether the device advertises only when it is triggered, so that silence means nothing.
    var isTriggerBased = false
    /// The state of the device, merged from all its packets.
    var fields: [AdvertisedField] = []
    /// The number of the last packet that was processed.
    var packet: FixedPointNumber?
    var encryption: (counter: UInt32, instant: Instant)?
    /// Whether its last packet reported an event without a number that would distinguish it from the next.
    var hasUnnumberedEvents = false

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
