import BluetoothBase
import BluetoothHCI

/// One advertising set of a controller (Core 5.4, Vol 6, Part B, 4.4.2). The legacy commands use one with legacy PDUs
/// and without a handle.
struct AdvertisingState: Sendable {
    var isEnabled = false
    var parameters = LESetExtendedAdvertisingParameters(
        advertisingHandle: AdvertisingHandle(0), properties: [.legacy, .connectable, .scannable])
    /// The random address of the set. The legacy commands use the controller's random address.
    var randomAddress: DeviceAddress?
    var data: [UInt8] = []
    var scanResponseData: [UInt8] = []
    /// Data whose last fragment has not arrived yet.
    var unfinishedData: [UInt8]?
    var unfinishedScanResponseData: [UInt8]?
    /// The Advertising DID, which changes with the data.
    var dataIdentifier: UInt16 = 0
    /// The instant at which advertising ends automatically.
    var end: Instant?
    /// The number of advertising events after which advertising ends; 0 for never.
    var maximumEvents: UInt8 = 0
    var sentEvents: UInt8 = 0
    var periodic = PeriodicTrain()

    /// The maximum duration of high duty cycle directed advertising, 1.28 s, in nanoseconds (Vol 6, Part B, 4.4.2.4.3).
    static let highDutyCycleDuration: UInt64 = 1_280_000_000

    var properties: AdvertisingEventProperties { parameters.properties }
    var isLegacy: Bool { properties.contains(.legacy) }
    var isConnectable: Bool { properties.contains(.connectable) }
    var isScannable: Bool { properties.contains(.scannable) }
    var isDirected: Bool { properties.contains(.directed) }
    var isHighDutyCycle: Bool { properties.contains(.highDutyCycle) }
    var isAnonymous: Bool { properties.contains(.anonymous) }

    /// The PHY of the advertising data and of a resulting connection.
    var dataPHY: LEPHY { isLegacy ? .le1M : parameters.secondaryPHY }

    var filtersScanRequests: Bool {
        switch parameters.filterPolicy {
        case .all, .connectFromAcceptList: false
        case .scanFromAcceptList, .acceptListOnly: true
        }
    }

    var filtersConnections: Bool {
        switch parameters.filterPolicy {
        case .all, .scanFromAcceptList: false
        case .connectFromAcceptList, .acceptListOnly: true
        }
    }

    /// The time from one advertising event to the next, in nanoseconds: the interval and a delay of up to 10 ms that
    /// keeps two advertisers from colliding forever (Vol 6, Part B, 4.4.2.2.1).
    func nextEventDelay(using generator: inout SeededGenerator) -> UInt64 {
        guard !isHighDutyCycle else { return 3_750_000 }
        return UInt64(parameters.primaryIntervalMin.rawValue) * 625_000
            + UInt64.random(in: 0..<10_000_000, using: &generator)
    }
}

extension LESetExtendedAdvertisingParameters {
    /// The set parameters that correspond to the legacy command.
    init(_ legacy: LESetAdvertisingParameters) {
        self.init(advertisingHandle: AdvertisingHandle(0), properties: legacy.type.properties)
        primaryIntervalMin = legacy.intervalMin
        primaryIntervalMax = legacy.intervalMax
        primaryChannelMap = legacy.channelMap
        ownAddressType = legacy.ownAddressType
        peerAddress = legacy.peerAddress
        filterPolicy = legacy.filterPolicy
    }
}

extension LEAdvertisingType {
    /// The corresponding properties in the extended commands (Core 5.4, Vol 4, Part E, 7.8.53).
    fileprivate var properties: AdvertisingEventProperties {
        switch self {
        case .connectableUndirected: [.legacy, .connectable, .scannable]
        case .connectableDirectedHighDutyCycle: [.legacy, .connectable, .directed, .highDutyCycle]
        case .scannableUndirected: [.legacy, .scannable]
        case .nonConnectableUndirected: [.legacy]
        case .connectableDirectedLowDutyCycle: [.legacy, .connectable, .directed]
        }
    }
}
