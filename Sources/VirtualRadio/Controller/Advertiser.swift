import BluetoothBase
import BluetoothHCI

/// The legacy advertising of one controller (Core 5.4, Vol 6, Part B, 4.4.2).
///
/// Sets of extended advertising would each have an `Advertiser` of their own.
struct Advertiser: Sendable {
    var isEnabled = false
    var parameters = LESetAdvertisingParameters(
        intervalMin: LESlots(rawValue: 0x0800), intervalMax: LESlots(rawValue: 0x0800))
    var data: [UInt8] = []
    var scanResponseData: [UInt8] = []
    /// When high duty cycle directed advertising ends.
    var end: Instant?

    /// How long high duty cycle directed advertising may last, 1.28 s, in nanoseconds (Vol 6, Part B, 4.4.2.4.3).
    static let highDutyCycleDuration: UInt64 = 1_280_000_000

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
        switch parameters.type {
        case .connectableDirectedHighDutyCycle: 3_750_000
        case .connectableUndirected, .scannableUndirected, .nonConnectableUndirected, .connectableDirectedLowDutyCycle:
            UInt64(parameters.intervalMin.rawValue) * 625_000
                + UInt64.random(in: 0..<10_000_000, using: &generator)
        }
    }
}

extension LEAdvertisingType {
    var isConnectable: Bool {
        switch self {
        case .connectableUndirected, .connectableDirectedHighDutyCycle, .connectableDirectedLowDutyCycle: true
        case .scannableUndirected, .nonConnectableUndirected: false
        }
    }

    var isScannable: Bool {
        switch self {
        case .connectableUndirected, .scannableUndirected: true
        case .connectableDirectedHighDutyCycle, .connectableDirectedLowDutyCycle, .nonConnectableUndirected: false
        }
    }

    var isDirected: Bool {
        switch self {
        case .connectableDirectedHighDutyCycle, .connectableDirectedLowDutyCycle: true
        case .connectableUndirected, .scannableUndirected, .nonConnectableUndirected: false
        }
    }
}
