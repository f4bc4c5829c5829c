import BluetoothBase
import BluetoothHCI

/// The legacy scanning of one controller (Core 5.4, Vol 6, Part B, 4.4.3).
struct Scanner: Sendable {
    var isEnabled = false
    var type = LEScanType.passive
    var timing = ScanTiming(interval: LESlots(rawValue: 0x10), window: LESlots(rawValue: 0x10))
    var ownAddressType = OwnAddressType.public
    var filterPolicy = ScanningFilterPolicy.all
    var filtersDuplicates = false
    /// When scanning was enabled.
    var start = Instant.zero
    var duplicates: DuplicateFilter

    init(duplicateFilterSize: Int) {
        duplicates = DuplicateFilter(capacity: duplicateFilterSize)
    }

    var usesFilterAcceptList: Bool {
        switch filterPolicy {
        case .all, .allAndUnresolvedDirected: false
        case .acceptListOnly, .acceptListAndUnresolvedDirected: true
        }
    }
}

/// A connection being created: the controller listens for a certain advertiser (Core 5.4, Vol 6, Part B, 4.4.4).
struct Initiator: Sendable {
    var timing: ScanTiming
    /// The device to connect to; nil for the first device of the filter accept list that is received.
    var peer: DeviceAddress?
    var ownAddressType: OwnAddressType
    var parameters: ConnectionParameters
    var start: Instant
}
