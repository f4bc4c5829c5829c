import BluetoothBase
import BluetoothL2CAP

/// The settings of a host, which do not change during its lifetime.
public struct HostConfiguration: Sendable {
    /// The address that the host uses on the air.
    public enum OwnAddress: Hashable, Sendable {
        /// The controller's public address if it has one, otherwise `HostConfiguration.staticAddress`.
        case automatic
        /// The controller's public address.
        case `public`
        /// A static random address (Core 5.4, Vol 6, Part B, 1.3.2.1).
        case staticRandom(DeviceAddress)
    }

    /// The host's address on the air, unless `privacy` is enabled.
    public var ownAddress: OwnAddress = .automatic
    /// The static random address for a controller without a public address; nil to derive one from `seed`. Bonds belong
    /// to an address: with a different address, this device is a different device to its peers.
    public var staticAddress: DeviceAddress?
    /// Random bits for values that must differ from run to run. The host does not read a random number generator
    /// itself, except `SecurityConfiguration.entropy`.
    public var seed: UInt64
    /// The value of the Device Name characteristic (Vol 3, Part C, 12.1).
    public var deviceName: String = "swift-bluetooth-le"
    /// The other contents of the Generic Access service.
    public var genericAccess = GenericAccess()
    /// Whether the host adds a Generic Access and a Generic Attribute service to its database. If not, the caller must
    /// publish both, as every server needs them (Vol 3, Part C, 12), but can choose their handles and contents. The
    /// host indicates changes through the caller's Service Changed characteristic.
    public var publishesOwnServices = true
    /// The maximum ATT_MTU of the host, 23 to 517.
    public var preferredMTU: UInt16 = 517
    /// The number of PDUs that may wait on one link for the controller's buffers. While it is reached, `Host.notify`
    /// and `Host.writeWithoutResponse` return false.
    public var sendQueueLimit: Int = 16
    /// The number of ACL packets, on all links together, that the controller may send before the host has made room for
    /// more; at most 16,384. Effective only if the controller supports flow control. 0 turns flow control off.
    public var receiveBufferCount: UInt16 = 256
    /// The maximum number of links, regardless of what the controller offers.
    public var maximumLinks: Int = 64
    /// The maximum number of credit-based channels on each link, at most 64.
    public var maximumChannels: Int = 32
    /// The maximum number of enhanced ATT bearers on a link in addition to the fixed channel, at most 5; 0 for none.
    /// The host requests this number of bearers when the link is encrypted, if the application uses the peer's server
    /// and the server supports them. The peer cannot open more than that either. With two, a slow response and a long
    /// discovery do not delay anything else, which uses the fixed channel. The bearers count towards `maximumChannels`.
    public var enhancedBearers: Int = 2
    /// The time within which the controller must answer a command.
    public var commandTimeout: Duration = .seconds(2)
    /// The connection parameters with which a central connects. The defaults are an interval of 15 to 30 ms, as phones
    /// use, and a supervision timeout of 4 seconds.
    public var connectionParameters = ConnectionParameters(
        minimumInterval: .milliseconds(15), maximumInterval: .milliseconds(30), supervisionTimeout: .seconds(4))
    /// Whether a central requests LE 2M if both controllers support it. A peripheral leaves that to its central.
    public var prefersLE2M = true
    /// The connection parameters that a central grants to its peripherals on request.
    public var acceptableParameters = AcceptableConnectionParameters()
    /// The time without a report after which a scan that reports every advertising event is restarted, at least 1
    /// second; nil for never. If the restart brings no report either, the time doubles, up to an hour. Scans in which
    /// the controller filters duplicates may be silent for any time.
    public var scanSilenceLimit: Duration? = .seconds(60)
    /// Whether the caller stores bonds, and calls `Host.bondWritten` with the result. If it does, a pairing succeeds
    /// when its bond is stored. Otherwise it succeeds as soon as the peer has the keys.
    public var storesBonds = false
    /// What the host needs for pairing and encryption; nil for a host that does neither.
    public var security: SecurityConfiguration?
    /// The kind of addresses that peers see of this host.
    public var privacy = OwnPrivacy.off
    /// Whether bonded peers that use private addresses may also use their identity address.
    public var peerPrivacyMode = PeerPrivacyMode.device
    /// The number of times that a connection is retried after it failed to be established (reason 0x3E).
    public var establishmentRetries: Int = 5

    /// Creates the default settings.
    ///
    /// - Parameter seed: see `seed`.
    public init(seed: UInt64) {
        self.seed = seed
    }
}
