import BluetoothBase
import BluetoothHCI

/// The periodic advertising that a controller receives, or is to receive (Core 5.4, Vol 6, Part B, 4.4.5).
struct Synchronizer: Sendable {
    /// Of one set.
    struct Sync: Sendable {
        let announcement: TrainAnnouncement
        /// The advertiser, as the host is told.
        let address: DeviceAddress
        let timeout: Duration
        /// The link whose peer told of it; nil where the host asked for it.
        var connection: ConnectionHandle?
        var reporting: PeriodicReporting
        /// False until a packet was received.
        var isEstablished = false
        /// What was reported last, if duplicates are not to be.
        var reportedIdentifier: UInt16?
        /// Those that are received; empty until the host has chosen some.
        var subevents: [UInt8] = []
        /// What is to be sent in response slots, one for each subevent at most.
        var responses: [LESetPeriodicAdvertisingResponseData] = []
    }

    /// An entry of the Periodic Advertiser List.
    struct Entry: Equatable, Sendable {
        var address: DeviceAddress
        var advertisingSID: UInt8
    }

    /// Those that there are, each at the place of its handle.
    var syncs: [Sync?]
    /// What the host wants to be synchronized to, as long as it is not.
    var request: LEPeriodicAdvertisingCreateSync?
    /// Where the advertiser that was found for it is.
    var requested: Int?
    var list: [Entry] = []
    let listCapacity: Int
    /// For later connections.
    var transfer = SyncTransferParameters()

    init(_ configuration: ControllerConfiguration) {
        syncs = Array(repeating: nil, count: min(Int(configuration.maximumPeriodicSyncs), Self.maximumSyncs))
        listCapacity = Int(configuration.periodicAdvertiserListSize)
    }

    /// The most of any controller.
    static let maximumSyncs = 16
    /// Handles start here, to reveal hosts that confuse an index with a handle.
    private static let firstHandle: UInt16 = 0x0020

    static func handle(of place: Int) -> SyncHandle { SyncHandle(firstHandle + UInt16(place)) }

    /// The place of what the host knows by a handle.
    func place(of handle: SyncHandle) -> Int? {
        let place = Int(handle.rawValue) - Int(Self.firstHandle)
        guard syncs.indices.contains(place), syncs[place]?.isEstablished == true else { return nil }
        return place
    }

    /// Whether it receives this already, or tries to.
    func follows(_ train: TrainID) -> Bool { syncs.contains { $0?.announcement.train == train } }

    /// Whether the host asks for an advertiser's set.
    func wants(_ address: DeviceAddress, _ advertisingSID: UInt8) -> Bool {
        guard let request, requested == nil else { return false }
        let entry = Entry(address: address, advertisingSID: advertisingSID)
        if request.options.contains(.usesAdvertiserList) { return list.contains(entry) }
        return entry
            == Entry(address: request.advertiserAddress.unresolved, advertisingSID: request.advertisingSID)
    }
}

/// What becomes of periodic advertising of which a peer tells (Vol 4, Part E, 7.8.91).
struct SyncTransferParameters: Sendable {
    var mode = PeriodicSyncTransferMode.ignore
    var timeout = SupervisionTimeout(rawValue: 0)

    /// Vol 4, Part E, 7.8.91: what a host may set.
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
    /// Vol 4, Part E, 7.8.67.
    static func isValid(skip: UInt16, _ timeout: SupervisionTimeout) -> Bool {
        skip <= 0x01F3 && (0x000A...0x4000).contains(timeout.rawValue)
    }

    init(_ options: PeriodicSyncOptions) {
        self = options.contains(.disablesReports) ? [] : .enabled
        if options.contains(.filtersDuplicates) { insert(.filtersDuplicates) }
    }
}
