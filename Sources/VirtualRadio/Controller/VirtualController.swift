import BluetoothBase
import BluetoothHCI

/// A Bluetooth LE controller in software, as its host sees it through HCI (Core 5.4, Vol 4, Part E).
///
/// It belongs to an `Air`, which carries its transmissions to the others.
public struct VirtualController: Sendable {
    /// Its fixed properties.
    public let configuration: ControllerConfiguration
    /// The packets for its host, H4 indicator first.
    public var outbox = PacketQueue()
    /// Its current faults.
    public var faults = Faults()

    /// What it sends with, in dBm.
    public internal(set) var transmitPower: Int8

    let index: Int
    let supportedCommands: SupportedCommands
    var generator: SeededGenerator
    /// False once it was removed: it then does nothing.
    public internal(set) var isPresent = true
    var settings: Settings
    /// The commands waiting for `responseDelay`.
    var inbox = PacketQueue(reservingCapacity: 0)
    /// The link of each connection handle, nil for handles that are free.
    private var connections: [Int?]
    /// Where the last handle is among them.
    private var lastSlot: Int?

    init(_ configuration: ControllerConfiguration, index: Int, generator: SeededGenerator) {
        self.configuration = configuration
        transmitPower = configuration.transmitPower
        self.index = index
        self.generator = generator
        supportedCommands = SupportedCommands(implementedBy: configuration)
        settings = Settings(configuration)
        connections = Array(repeating: nil, count: min(max(0, configuration.maximumConnections), 0x0E00))
    }

    /// Faults for testing a host.
    public struct Faults: Sendable {
        /// This many of the next connections it initiates do not reach the peer: each is reported, and after six
        /// intervals reported as lost with Connection Failed to be Established (0x3E).
        public var failingConnections = 0
        /// It no longer answers commands; everything else continues.
        public var ignoresCommands = false
        /// It takes this long to begin with a command; everything else continues.
        public var commandDelay = Duration.zero
        /// Nothing it sends reaches its host.
        public var isSilent = false

        /// No faults.
        public init() {}
    }

    /// How long a command waits until it is performed.
    var commandDelay: Duration { max(configuration.responseDelay, faults.commandDelay) }

    /// Everything that Reset restores (Vol 4, Part E, 7.3.2).
    struct Settings: Sendable {
        var eventMask = EventMask.default
        var leEventMask = LEEventMask.default
        var randomAddress: DeviceAddress?
        var hostBuffers = HostBuffers()
        /// That of the legacy commands, and behind it those of `existingSets`, with free places between them.
        var advertisers = [Advertiser()]
        var existingSets: Set<Int> = []
        /// Whether the host advertises, scans and connects by the extended commands; nil as long as it has used neither kind.
        var usesExtendedCommands: Bool?
        var scanner: Scanner
        var initiator: Initiator?
        var synchronizer: Synchronizer
        var filterAcceptList: FilterAcceptList
        var resolvingList: ResolvingList
        var channelMap = LEChannelMap.all
        var suggestedDataLength = LEDataLength(octets: LinkEnd.minimumOctets)

        /// That of the legacy commands.
        var advertiser: Advertiser {
            get { advertisers[0] }
            _modify { yield &advertisers[0] }
        }

        init(_ configuration: ControllerConfiguration) {
            scanner = Scanner(duplicateFilterSize: configuration.duplicateFilterSize)
            synchronizer = Synchronizer(configuration)
            filterAcceptList = FilterAcceptList(capacity: configuration.filterAcceptListSize)
            resolvingList = ResolvingList(capacity: configuration.resolvingListSize)
        }
    }

    // MARK: - What it is doing

    public var isAdvertising: Bool { settings.advertisers.contains(where: \.isEnabled) }
    /// How many advertising sets are on the air, or 1 where the legacy commands were used.
    public var enabledSetCount: Int { settings.advertisers.count(where: \.isEnabled) }
    public var isScanning: Bool { settings.scanner.isEnabled }
    public var isInitiating: Bool { settings.initiator != nil }
    /// How much periodic advertising it receives.
    public var syncCount: Int { settings.synchronizer.syncs.count { $0?.isEstablished == true } }
    public var connectionCount: Int { connections.count { $0 != nil } }

    // MARK: - Connection handles

    /// Handles start here, to reveal hosts that confuse an index with a handle.
    private static let firstHandle: UInt16 = 0x0040

    var freeConnectionSlot: Int? {
        guard !configuration.reusesHandles, let lastSlot else { return connections.firstIndex(of: nil) }
        return connections[(lastSlot + 1)...].firstIndex(of: nil) ?? connections.firstIndex(of: nil)
    }

    mutating func takeConnectionSlot(for link: Int) -> ConnectionHandle? {
        guard let slot = freeConnectionSlot else { return nil }
        connections[slot] = link
        lastSlot = slot
        return ConnectionHandle(Self.firstHandle + UInt16(slot))
    }

    mutating func releaseConnectionSlot(_ handle: ConnectionHandle) {
        guard link(of: handle) != nil else { return }
        connections[Int(handle.rawValue &- Self.firstHandle)] = nil
    }

    /// The link with a handle.
    @inline(__always)
    func link(of handle: ConnectionHandle) -> Int? {
        let slot = Int(handle.rawValue) &- Int(Self.firstHandle)
        return slot >= 0 && slot < connections.count ? connections[slot] : nil
    }
}
