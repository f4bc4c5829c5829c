import BluetoothATT
import BluetoothBase
import BluetoothGAP
import BluetoothGATT
import BluetoothHCI
import BluetoothL2CAP
import BluetoothSMP

/// A Bluetooth LE host: everything between HCI packets and GATT, for one controller, in both roles.
///
/// The host is a value that does no input or output. Packets from the controller, calls and the passing of time go in.
/// Packets for the controller collect in `outbox`, and reports to the caller in `events`. After every mutation, the
/// caller must
///
/// 1. pass each packet of `outbox` to the transport,
/// 2. take the events,
/// 3. schedule a call to `fire(at:)` at `nextDeadline`.
///
/// The same inputs produce exactly the same output bytes, on any machine.
public struct Host: Sendable {
    /// The settings that the host was created with.
    public let configuration: HostConfiguration
    /// H4 packets for the controller, oldest first.
    public var outbox = PacketQueue()
    /// Reports to the caller.
    public var events = HostEventQueue()
    /// The GATT server, which offers the same services to the peers of all links.
    public var server: GATTServer
    /// The number of faults in data from the controller and from peers.
    public internal(set) var faults = HostFaultCounts()
    /// The consequence of the last packet from the controller, or of the last call of `start(_:on:bearer:at:)`.
    public internal(set) var consequence = HostConsequence.any
    var ownServices = OwnServices()

    var lifecycle: ControllerLifecycle
    var commands: CommandQueue
    var purposes = CommandPurposes()

    /// The radio features of the controller, kept until the next controller is up.
    var radio = RadioFeatures()
    var scanner = Scanner()
    var advertiser = Advertiser()
    var initiator = Initiator()
    var synchronizer = PeriodicSynchronizer()
    /// Reassembles fragmented responses to periodic advertising.
    var responses = PeriodicResponseAssembly()
    var arbiter = RadioArbiter()
    /// Reports with private addresses that may belong to bonded peers.
    var unresolved = UnresolvedReports()

    var peers: PeerTable
    var privacy: PrivacyControl
    /// Generates non-resolvable private addresses.
    var addressGenerator: SeededGenerator
    var links: LinkTable
    /// The resources that all pairings share; nil on a host without security.
    var security: SecurityResources?
    /// Whether a finished pairing may be waiting until the peer has received the last PDU.
    var pairingsMayWait = false
    var signingCounters = SigningCounters()
    /// The services offered over credit-based channels, by SPSM.
    var channelListeners: [UInt16: ChannelListener] = [:]
    /// Whether SDUs may be waiting on a channel.
    var channelsMayWait = false
    /// The controller's ACL data buffers. `aclDataLength` is the maximum length of a packet for them.
    var flow = ACLFlowControl(bufferCount: 0)
    var aclDataLength = 0
    /// The host's receive buffers, as the controller sees them.
    var receiveFlow = ReceiveFlow(bufferCount: 0)
    /// Holds a reassembled frame while it is handled, because its link may change meanwhile.
    var reassembled = ByteWriter(reservingCapacity: Link.maximumFrameLength)
    /// Holds a PDU reassembled from several K-frames while it is handled.
    var reassembledSDU = ByteWriter()
    var sendRotation = SendRotation()

    /// Creates a host that has not started yet. Services can be published, and everything else configured, before
    /// `start`.
    public init(configuration: HostConfiguration) {
        self.configuration = configuration
        lifecycle = ControllerLifecycle(configuration)
        peers = PeerTable(crypto: configuration.security?.crypto)
        privacy = PrivacyControl(configuration)
        // Inverted, because a static address may be generated from the seed itself.
        addressGenerator = SeededGenerator(seed: ~configuration.seed)
        server = GATTServer(maximumMTU: min(Int(configuration.preferredMTU), Link.maximumMTU))
        // The capacity covers all commands that the host itself may have to send, including at most two per link, and
        // some that its caller and its peers ask for.
        commands = CommandQueue(
            capacity: Self.optionalCommandLimit + 64 + 2 * max(0, min(configuration.maximumLinks, 255)),
            timeout: configuration.commandTimeout)
        links = LinkTable(capacity: configuration.maximumLinks)
        security = configuration.security.map { security in
            var entropy = security.entropy
            let resolvingKey = security.resolvingKey ?? UInt128.random(in: 1 ... .max, using: &entropy)
            return SecurityResources(
                crypto: security.crypto, entropy: entropy, policy: security.policy,
                identity: DeviceIdentity(address: DeviceAddress(0, kind: .public), resolvingKey: resolvingKey))
        }
        publishOwnServices()
    }

    /// The number of waiting commands from which on optional ones are refused: commands that a caller or a peer asked
    /// for, and can ask for again.
    static let optionalCommandLimit = 32

    /// Performs the effects of an activity.
    mutating func perform(_ effects: [Effect], at now: Instant) {
        for effect in effects {
            switch effect {
            case .send(let command, let purpose): send(command, for: purpose, at: now)
            case .report(let event): events.append(event)
            }
        }
    }
}
