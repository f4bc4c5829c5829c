import BluetoothBase
import BluetoothHCI

/// A Bluetooth LE controller in software, as its host sees it through HCI (Core 5.4, Vol 4, Part E).
///
/// It belongs to an `Air`, which carries its transmissions to the other controllers.
public struct VirtualController: Sendable {
    /// The controller's fixed properties.
    public let configuration: ControllerConfiguration
    /// The packets for the host, H4 indicator first.
    public var outbox = PacketQueue()
    /// The controller's current faults.
    public var faults = Faults()

    /// The current transmit power, in dBm.
    public internal(set) var transmitPower: Int8

    let index: Int
    let supportedCommands: SupportedCommands
    var generator: SeededGenerator
    /// False after the controller is removed. It then does nothing.
    public internal(set) var isPresent = true
    var settings: Settings
    /// The commands waiting for `responseDelay`.
    var inbox = PacketQueue(reservingCapacity: 0)
    /// The link of each connection handle, nil for handles that are free.
    private var connections: [Int?]
    /// The index of the last assigned handle in `connections`.
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
        /// The number of upcoming connections initiated by this controller that do not reach the peer. Each is reported
        /// as connected, and after six intervals as lost with Connection Failed to be Established (0x3E).
        public var failingConnections = 0
        /// Whether this controller ignores connection requests while it advertises. The initiator sees what it sees of
        /// `failingConnections`.
        public var ignoresConnectionRequests = false
        /// The controller no longer answers commands. Everything else continues.
        public var ignoresCommands = false
        /// The delay before the controller performs a command. Everything else continues.
        public var commandDelay = Duration.zero
        /// No packet from the controller reaches its host.
        public var isSilent = false

        /// No faults.
        public init() {}
    }

    /// The time a command waits before it is performed.
    var commandDelay: Duration { max(configuration.responseDelay, faults.commandDelay) }

    /// Everything that Reset restores (Vol 4, Part E, 7.3.2).
    struct Settings: Sendable {
        var eventMask = EventMask.default
        var leEventMask = LEEventMask.default
        var randomAddress: DeviceAddress?
        var hostBuffers = HostBuffers()
        /// The advertiser of the legacy commands, followed by those of `existingSets`, with free places between them.
        var advertisers = [AdvertisingState()]
        var existingSets: Set<Int> = []
        /// Whether the host uses the extended commands to advertise, scan and connect; nil until it has used either
        /// kind.
        var usesExtendedCommands: Bool?
        var scanner: ScanningState
        var initiator: InitiatingState?
        var synchronizer: Synchronizer
        var filterAcceptList: FilterAcceptList
        var resolvingList: ControllerResolvingList
        var channelMap = LEChannelMap.all
        var suggestedDataLength = LEDataLength(octets: LinkEnd.minimumOctets)

        /// The advertiser of the legacy commands.
        var advertiser: AdvertisingState {
            get { advertisers[0] }
            _modify { yield &advertisers[0] }
        }

        init(_ configuration: ControllerConfiguration) {
            scanner = ScanningState(duplicateFilterSize: configuration.duplicateFilterSize)
            synchronizer = Synchronizer(configuration)
            filterAcceptList = FilterAcceptList(capacity: configuration.filterAcceptListSize)
            resolvingList = ControllerResolvingList(capacity: configuration.resolvingListSize)
        }
    }

    // MARK: - Current activities

    /// Whether an advertising set is enabled. The legacy commands also use one.
    public var isAdvertising: Bool { settings.advertisers.contains(where: \.isEnabled) }
    /// The number of enabled advertising sets; 1 for advertising started with the legacy commands.
    public var enabledSetCount: Int { settings.advertisers.count(where: \.isEnabled) }
    /// Whether scanning is enabled, with the legacy or the extended command.
    public var isScanning: Bool { settings.scanner.isEnabled }
    /// Whether the controller is in the Initiating State (Core 5.4, Vol 6, Part B, 4.4.4).
    public var isInitiating: Bool { settings.initiator != nil }
    /// The number of periodic advertising trains the controller is synchronized to.
    public var syncCount: Int { settings.synchronizer.syncs.count { $0?.isEstablished == true } }
    /// The number of connections, in both roles.
    public var connectionCount: Int { connections.count { $0 != nil } }

    // MARK: - Connection handles

    /// Handles start here, to expose hosts that confuse an index with a handle.
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
