import BluetoothBase
import BluetoothHCI

/// The periodic advertising of one set (Core 5.4, Vol 6, Part B, 4.4.2.12): the host's settings and the current state.
struct PeriodicTrain: Sendable {
    /// The next step of an event with subevents.
    enum Phase: Sendable {
        case send(UInt8)
        /// The end of the last response slot of a subevent.
        case collect(LESetPeriodicAdvertisingSubeventData.Subevent)
    }

    /// Nil before the host has set any.
    var parameters: LESetPeriodicAdvertisingParametersV2?
    var data: [UInt8] = []
    /// Data whose last fragment has not arrived yet.
    var unfinishedData: [UInt8]?
    /// The Advertising DID, which changes with the data.
    var dataIdentifier: UInt16 = 0
    /// Whether the host has enabled it. It starts together with the advertising set.
    var isEnabled = false
    var includesADI = false
    /// Distinguishes this train from earlier ones of the same set; nil while it is not on the air.
    var number: UInt32?
    var eventCounter: UInt16 = 0
    /// The start of the current event.
    var eventStart = Instant.zero
    var phase = Phase.send(0)
    /// The data of the next subevents. Each is sent once.
    var subevents: [UInt8: LESetPeriodicAdvertisingSubeventData.Subevent] = [:]

    /// The number of subevents for which the controller requests data at once.
    static let requestedSubevents: UInt8 = 8

    var isSetUp: Bool { parameters != nil }
    var isOnAir: Bool { number != nil }
    var interval: ConnectionInterval { parameters?.intervalMin ?? ConnectionInterval(rawValue: 0) }
    var subeventCount: UInt8 { parameters?.subeventCount ?? 0 }

    /// The start of a subevent in the current event.
    func start(of subevent: UInt8) -> Instant {
        let each = UInt64(parameters?.subeventInterval ?? 0) * 1_250_000
        return eventStart.advanced(nanoseconds: UInt64(subevent) * each)
    }

    /// The start of a response slot in the current event.
    func start(ofSlot slot: Int, in subevent: UInt8) -> Instant {
        guard let parameters else { return eventStart }
        let delay = UInt64(parameters.responseSlotDelay) * 1_250_000
        let slots = UInt64(slot) * UInt64(parameters.responseSlotSpacing) * 125_000
        return start(of: subevent).advanced(nanoseconds: delay + slots)
    }
}

/// Identifies periodic advertising on the air.
struct TrainID: Hashable, Sendable {
    var controller: Int
    var slot: Int
    var number: UInt32
}

/// The information a device needs to synchronize: SyncInfo, and the other fields of the AUX_ADV_IND or
/// LL_PERIODIC_SYNC_IND that carries it (Vol 6, Part B, 2.3.4.6 and 2.4.2.27).
struct TrainAnnouncement: Sendable {
    var train: TrainID
    var address: DeviceAddress
    var advertisingSID: UInt8
    var phy: LEPHY
    var interval: ConnectionInterval
    /// The Service_Data that a peer has sent with it.
    var serviceData: UInt16 = 0
}

extension AdvertisingState {
    /// Whether a set of this kind may have periodic advertising (Vol 4, Part E, 7.8.61).
    var mayBePeriodic: Bool { properties.isDisjoint(with: [.legacy, .connectable, .scannable, .anonymous]) }
}

extension LESetPeriodicAdvertisingParametersV2 {
    /// The same parameters, without responses.
    init(_ first: LESetPeriodicAdvertisingParameters) {
        self.init(
            advertisingHandle: first.advertisingHandle, intervalMin: first.intervalMin, intervalMax: first.intervalMax,
            properties: first.properties)
    }

    /// Whether the parameters are valid (Vol 4, Part E, 7.8.61).
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
