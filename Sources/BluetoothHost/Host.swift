import BluetoothATT
import BluetoothBase
import BluetoothGAP
import BluetoothGATT
import BluetoothHCI
import BluetoothL2CAP
import BluetoothSMP

/// A Bluetooth LE host: everything between HCI packets and GATT, for one controller, in both roles.
///
/// A value that does no input or output. Packets from the controller, calls and the passing of time go in; packets for
/// the controller collect in `outbox` and what the caller should know in `events`. After every mutation the caller
///
/// 1. hands each packet of `outbox` to the transport,
/// 2. takes the events,
/// 3. sees to it that `fire(at:)` is called at `nextDeadline`.
///
/// The same inputs give the same outputs to the byte, on any machine.
public struct Host: Sendable {
    /// The settings it was made with.
    public let configuration: HostConfiguration
    /// H4 packets for the controller, oldest first.
    public var outbox = PacketQueue()
    /// What has happened.
    public var events = HostEventQueue()
    /// The services this host offers to its peers, on every link.
    public var server: GATTServer
    /// How often something was wrong with what came from the controller or from a peer.
    public internal(set) var faults = HostFaultCounts()
    var ownServices = OwnServices()

    var lifecycle: ControllerLifecycle
    var commands: CommandQueue
    var purposes = CommandPurposes()
    var nextRequest: UInt32 = 1

    /// What the controller can do on the air, until there is another one.
    var radio = RadioFeatures()
    var scanner = Scanner()
    var advertiser = Advertiser()
    var initiator = Initiator()
    var synchronizer = PeriodicSynchronizer()
    /// Responses to periodic advertising that came in part.
    var responses = PeriodicResponseAssembly()
    var arbiter = RadioArbiter()
    /// Reports from private addresses that may be those of bonded peers.
    var unresolved = UnresolvedReports()

    var peers: PeerTable
    var privacy: PrivacyControl
    /// Where non-resolvable private addresses come from.
    var addressGenerator: SeededGenerator
    var links: LinkTable
    /// What all pairings share; nil on a host that does not pair.
    var security: SecurityResources?
    /// Whether the end of a pairing may wait for the peer to receive what was sent last.
    var pairingsMayWait = false
    var signingCounters = SigningCounters()
    /// The services offered over credit-based channels, by SPSM.
    var channelListeners: [UInt16: ChannelListener] = [:]
    /// Whether SDUs may wait on some channel.
    var channelsMayWait = false
    /// The controller's buffers for ACL data, and how long a packet they take.
    var flow = ACLFlowControl(bufferCount: 0)
    var aclDataLength = 0
    /// The room the controller sees at the host.
    var receiveFlow = ReceiveFlow(bufferCount: 0)
    /// Where frames that came in pieces are handled, while their link changes.
    var reassembled = ByteWriter(reservingCapacity: Link.maximumFrameLength)
    /// The same for a PDU of several K-frames.
    var reassembledSDU = ByteWriter()
    /// Where the round robin over links with queued data goes on.
    var nextToSend = 0
    /// Links with something in their send queue.
    var waitingLinks = 0

    /// A host that has not started yet. Services may be published and everything else configured before `start`.
    public init(configuration: HostConfiguration) {
        self.configuration = configuration
        lifecycle = ControllerLifecycle(configuration)
        peers = PeerTable(crypto: configuration.security?.crypto)
        privacy = PrivacyControl(configuration)
        // Not the bits of a static address that was made from the seed.
        addressGenerator = SeededGenerator(seed: ~configuration.seed)
        server = GATTServer(maximumMTU: min(Int(configuration.preferredMTU), Link.maximumMTU))
        // Room for whatever the host itself may have to send, at most two commands for each link among them, and some
        // for what its caller and its peers ask for.
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

    /// How many commands may wait for one that somebody asked for, and might ask for again, to wait behind them.
    static let optionalCommandLimit = 32

    /// Carries out what an activity asks for.
    mutating func perform(_ effects: [Effect], at now: Instant) {
        for effect in effects {
            switch effect {
            case .send(let command, let purpose): send(command, for: purpose, at: now)
            case .report(let event): events.append(event)
            }
        }
    }
}
