import BluetoothBase
import BluetoothHCI

/// The periodic advertising that a controller receives or tries to receive (Core 5.4, Vol 6, Part B, 4.4.5).
struct Synchronizer: Sendable {
    /// The synchronization with the periodic advertising of one set.
    struct Sync: Sendable {
        let announcement: TrainAnnouncement
        /// The advertiser's address, as reported to the host.
        let address: DeviceAddress
        let timeout: Duration
        /// The link over which a peer transferred the sync; nil if the host requested it.
        var connection: ConnectionHandle?
        var reporting: PeriodicReporting
        /// False until a packet is received.
        var isEstablished = false
        /// The Advertising DID that was reported last, if duplicates are filtered.
        var reportedIdentifier: UInt16?
        /// The subevents that are received; empty until the host has chosen some.
        var subevents: [UInt8] = []
        /// The data to send in response slots, at most one response for each subevent.
        var responses: [LESetPeriodicAdvertisingResponseData] = []
    }

    /// An entry of the Periodic Advertiser List.
    struct Entry: Equatable, Sendable {
        var address: DeviceAddress
        var advertisingSID: UInt8
    }

    /// The current syncs, each at the index that its handle encodes.
    var syncs: [Sync?]
    /// The host's pending request to synchronize.
    var request: LEPeriodicAdvertisingCreateSync?
    /// The place of the sync with the advertiser that was found for `request`.
    var requested: Int?
    var list: [Entry] = []
    let listCapacity: Int
    /// The default parameters for sync transfers on new connections.
    var transfer = SyncTransferParameters()

    init(_ configuration: ControllerConfiguration) {
        syncs = Array(repeating: nil, count: min(Int(configuration.maximumPeriodicSyncs), Self.maximumSyncs))
        listCapacity = Int(configuration.periodicAdvertiserListSize)
    }

    /// The maximum number of syncs of any controller.
    static let maximumSyncs = 16
    /// Handles start here, to expose hosts that confuse an index with a handle.
    private static let firstHandle: UInt16 = 0x0020

    static func handle(of place: Int) -> SyncHandle { SyncHandle(firstHandle + UInt16(place)) }

    /// The place of an established sync, by its handle.
    func place(of handle: SyncHandle) -> Int? {
        let place = Int(handle.rawValue) - Int(Self.firstHandle)
        guard syncs.indices.contains(place), syncs[place]?.isEstablished == true else { return nil }
        return place
    }

    /// Whether the controller is synchronized to a train, or tries to be.
    func follows(_ train: TrainID) -> Bool { syncs.contains { $0?.announcement.train == train } }

    /// Whether the host's pending request matches an advertising set.
    func wants(_ address: DeviceAddress, _ advertisingSID: UInt8) -> Bool {
        guard let request, requested == nil else { return false }
        let entry = Entry(address: address, advertisingSID: advertisingSID)
        if request.options.contains(.usesAdvertiserList) { return list.contains(entry) }
        return entry
            == Entry(address: request.advertiserAddress.unresolved, advertisingSID: request.advertisingSID)
    }
}

/// How a controller handles periodic advertising that a peer transfers (Vol 4, Part E, 7.8.91).
struct SyncTransferParameters: Sendable {
    var mode = PeriodicSyncTransferMode.ignore
    var timeout = SupervisionTimeout(rawValue: 0)

    /// Whether a host may set these values (Vol 4, Part E, 7.8.91).
    static func areValid(_ mode: PeriodicSyncTransferMode, skip: UInt16, _ timeout: SupervisionTimeout) -> Bool {
        mode.rawValue <= 3 && PeriodicReporting.isValid(skip: skip, timeout)
    }

    var reporting: PeriodicReporting {
        switch mode {
        case .synchronize: .enabled
        case .filterDuplicates: [.enabled, .filtersDuplicates]
        default: []
        }
    }
}

extension PeriodicReporting {
    /// Whether a host may set these values (Vol 4, Part E, 7.8.67).
    static func isValid(skip: UInt16, _ timeout: SupervisionTimeout) -> Bool {
        skip <= 0x01F3 && (0x000A...0x4000).contains(timeout.rawValue)
    }

    init(_ options: PeriodicSyncOptions) {
        self = options.contains(.disablesReports) ? [] : .enabled
        if options.contains(.filtersDuplicates) { insert(.filtersDuplicates) }
    }
}
