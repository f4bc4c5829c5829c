import BluetoothBase
import BluetoothHCI

/// The periodic advertising of one set (Core 5.4, Vol 6, Part B, 4.4.2.12): what its host has set up, and where it is.
struct PeriodicTrain: Sendable {
    /// What comes next of an event with subevents.
    enum Phase: Sendable {
        case send(UInt8)
        /// The last response slot of what was sent is over.
        case collect(LESetPeriodicAdvertisingSubeventData.Subevent)
    }

    /// Nil before the host has set any.
    var parameters: LESetPeriodicAdvertisingParametersV2?
    var data: [UInt8] = []
    /// Data of which the last fragment is still to come.
    var unfinishedData: [UInt8]?
    /// The Advertising DID, which changes with the data.
    var dataIdentifier: UInt16 = 0
    /// Whether its host wants it. It begins with the set.
    var isEnabled = false
    var includesADI = false
    /// Tells it from whatever was sent by this set before; nil while it is not on the air.
    var number: UInt32?
    var eventCounter: UInt16 = 0
    /// When the current event has begun.
    var eventStart = Instant.zero
    var phase = Phase.send(0)
    /// The data of the next subevents, which is sent once.
    var subevents: [UInt8: LESetPeriodicAdvertisingSubeventData.Subevent] = [:]

    /// For how many subevents a controller asks at once.
    static let requestedSubevents: UInt8 = 8

    var isSetUp: Bool { parameters != nil }
    var isOnAir: Bool { number != nil }
    var interval: ConnectionInterval { parameters?.intervalMin ?? ConnectionInterval(rawValue: 0) }
    var subeventCount: UInt8 { parameters?.subeventCount ?? 0 }

    /// When a subevent of the current event begins.
    func start(of subevent: UInt8) -> Instant {
        let each = UInt64(parameters?.subeventInterval ?? 0) * 1_250_000
        return eventStart.advanced(nanoseconds: UInt64(subevent) * each)
    }

    /// When a response slot of the current event begins.
    func start(ofSlot slot: Int, in subevent: UInt8) -> Instant {
        guard let parameters else { return eventStart }
        let delay = UInt64(parameters.responseSlotDelay) * 1_250_000
        let slots = UInt64(slot) * UInt64(parameters.responseSlotSpacing) * 125_000
        return start(of: subevent).advanced(nanoseconds: delay + slots)
    }
}

/// Names periodic advertising on the air.
struct TrainID: Hashable, Sendable {
    var controller: Int
    var slot: Int
    var number: UInt32
}

/// What a device has to know to synchronize: SyncInfo, with what its AUX_ADV_IND or LL_PERIODIC_SYNC_IND says besides (Vol 6,
/// Part B, 2.3.4.6 and 2.4.2.27).
struct TrainAnnouncement: Sendable {
    var train: TrainID
    var address: DeviceAddress
    var advertisingSID: UInt8
    var phy: LEPHY
    var interval: ConnectionInterval
    /// What a peer has told with it.
    var serviceData: UInt16 = 0
}

extension Advertiser {
    /// Whether a set of this kind may have periodic advertising (Vol 4, Part E, 7.8.61).
    var mayBePeriodic: Bool { properties.isDisjoint(with: [.legacy, .connectable, .scannable, .anonymous]) }
}

extension LESetPeriodicAdvertisingParametersV2 {
    /// The same without responses.
    init(_ first: LESetPeriodicAdvertisingParameters) {
        self.init(
            advertisingHandle: first.advertisingHandle, intervalMin: first.intervalMin, intervalMax: first.intervalMax,
            properties: first.properties)
    }

    /// Vol 4, Part E, 7.8.61.
    var isValid: Bool {
        guard intervalMin.rawValue >= 6, intervalMin <= intervalMax else { return false }
        guard subeventCount > 0 else { return true }
        guard subeventCount <= 128, subeventInterval >= 6,
            Int(subeventCount) * Int(subeventInterval) <= Int(intervalMin.rawValue)
        else { return false }
        guard responseSlotCount > 0 else { return true }
        // In units of 0.125 ms.
        let left = (Int(subeventInterval) - Int(responseSlotDelay)) * 10
        return responseSlotDelay > 0 && responseSlotSpacing >= 2
            && Int(responseSlotCount) * Int(responseSlotSpacing) <= left
    }
}
