import BluetoothBase
import BluetoothGAP
import BluetoothValues

/// What the pipeline remembers of a device.
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
    /// Whether its silence says nothing.
    var isTriggerBased = false
    /// Its state, from all its packets.
    var fields: [AdvertisedField] = []
    /// The number of the last packet that was taken in.
    var packet: FixedPointNumber?
    var encryption: (counter: UInt32, instant: Instant)?
    /// Whether its last packet said that something happened, without a number to tell it from the next.
    var hasUnnumberedEvents = false

    var averager = Averager()

    /// Whether anything is to be told that was not.
    var isChanged = false
    var reportedFields: [AdvertisedField]?
    var lastReport: Instant?
    var bucket: TokenBucket

    init(_ reception: Reception, bucket: TokenBucket) {
        address = reception.address
        lastHeard = reception.instant
        self.bucket = bucket
    }

    /// Takes in the octets. Returns whether they are others than before.
    mutating func update(_ reception: Reception) -> Bool {
        // One adapter may have heard the scan response and another not.
        let isResponseNew = !reception.scanResponseData.isEmpty && reception.scanResponseData != scanResponseData
        guard isResponseNew || reception.advertisingData != advertisingData else { return false }
        advertisingData = reception.advertisingData
        if isResponseNew { scanResponseData = reception.scanResponseData }
        return true
    }

    /// What it advertises.
    var advertisement: AdvertisementData {
        AdvertisementData(advertisingData: advertisingData.span, scanResponseData: scanResponseData.span)
    }

    /// Takes values into the state.
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

    /// Whether a message's number is one that the device may have used now.
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
