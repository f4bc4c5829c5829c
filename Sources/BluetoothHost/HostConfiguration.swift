import BluetoothBase
import BluetoothL2CAP

/// The settings of a host, which do not change while it lives.
public struct HostConfiguration: Sendable {
    /// Which of its own addresses the host uses on the air.
    public enum OwnAddress: Hashable, Sendable {
        /// The controller's public address where it has one, else `HostConfiguration.staticAddress`.
        case automatic
        /// The controller's public address.
        case `public`
        /// This static random address (Core 5.4, Vol 6, Part B, 1.3.2.1).
        case staticRandom(DeviceAddress)
    }

    /// The address peers see.
    public var ownAddress: OwnAddress = .automatic
    /// The static random address for a controller that has no public one; nil for one made from `seed`. Bonds are made with
    /// an address: with another one this device is another one.
    public var staticAddress: DeviceAddress?
    /// Random bits for what must differ from run to run. The host reads no random generator of its own.
    public var seed: UInt64
    /// The value of the Device Name characteristic (Vol 3, Part C, 12.1).
    public var deviceName: String = "swift-bluetooth-le"
    /// What else the Generic Access service says of this device.
    public var genericAccess = GenericAccess()
    /// Whether the database begins with a Generic Access and a Generic Attribute service of the host's. Without them the
    /// caller publishes both, as every server must have them (Vol 3, Part C, 12), with the handles and the content that
    /// he wants. A Service Changed characteristic of his is indicated by the host.
    public var publishesOwnServices = true
    /// The ATT_MTU the host offers, 23 to 517.
    public var preferredMTU: UInt16 = 517
    /// How many PDUs may wait on one link for the controller's buffers before `send` says "not now".
    public var sendQueueLimit: Int = 16
    /// How many ACL packets from all links together the controller may send before the host has made room for more,
    /// where the controller can be held back; 0 never to do so. At most 16,384.
    public var receiveBufferCount: UInt16 = 256
    /// How many links the host accepts, whatever the controller offers.
    public var maximumLinks: Int = 64
    /// How many credit-based channels there may be on each link, at most 64.
    public var maximumChannels: Int = 32
    /// How many enhanced ATT bearers a link may have beside the fixed channel, at most 5; 0 for none. So many are asked for
    /// once the link is encrypted, where the peer's server has them and is used, and a peer can open no more than that. Two let
    /// a slow answer and a long discovery go on at the same time as everything else, which has the fixed channel. They take
    /// of `maximumChannels`.
    public var enhancedBearers: Int = 2
    /// How long the controller has to answer a command.
    public var commandTimeout: Duration = .seconds(2)
    /// What a central asks for when it connects: 15 to 30 ms, as phones do, and a supervision timeout of 4 seconds.
    public var connectionParameters = ConnectionParameters(
        minimumInterval: .milliseconds(15), maximumInterval: .milliseconds(30), supervisionTimeout: .seconds(4))
    /// Whether a central asks for LE 2M where both controllers have it. A peripheral leaves that to its central.
    public var prefersLE2M = true
    /// Which parameters a central grants its peripherals when they ask.
    public var acceptableParameters = AcceptableConnectionParameters()
    /// How long a scan that reports every advertising event may report none before it is restarted, at least 1 second;
    /// nil for ever. Where that brings nothing either, it is given twice as long, up to an hour. Scans of controllers
    /// that filter duplicates may be silent.
    public var scanSilenceLimit: Duration? = .seconds(60)
    /// Whether the caller stores bonds and says with `Host.bondWritten` what became of that. Then a pairing has succeeded once
    /// its bond is stored; otherwise, as soon as the peer has the keys.
    public var storesBonds = false
    /// What it takes to pair and to encrypt; nil for a host that does neither.
    public var security: SecurityConfiguration?
    /// Which addresses peers see of this host.
    public var privacy = OwnPrivacy.off
    /// Whether bonded peers that have private addresses may use their identity address as well.
    public var peerPrivacyMode = PeerPrivacyMode.device
    /// How often a connection that failed to be established (reason 0x3E) is tried again.
    public var establishmentRetries: Int = 5

    /// The defaults.
    ///
    /// - Parameter seed: see `seed`.
    public init(seed: UInt64) {
        self.seed = seed
    }
}
