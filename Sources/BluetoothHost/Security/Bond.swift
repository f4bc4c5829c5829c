import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothSMP

/// What is kept of a peer after pairing with it, so that later links need no pairing (Core 5.4, Vol 3, Part C, 9.4.4).
///
/// A bond belongs to the local identity, address and IRK, that it was made with: to any other the peer is a stranger. Its
/// text forms show no key.
public struct Bond: Hashable, Sendable {
    /// Names the peer, for as long as the bond lasts. One identity has one bond with each peer.
    public var peer: PeerID
    /// The peer's identity address, or the address it paired under if it has distributed none.
    public var address: DeviceAddress
    /// The peer's identity address and IRK; nil if it has distributed none.
    public var identity: DeviceIdentity?
    /// The key for links on which this device is the central.
    public var centralKey: LongTermKey?
    /// The key for links on which this device is the peripheral.
    public var peripheralKey: LongTermKey?
    /// The protection that these keys give.
    public var strength: KeyStrength
    /// The key the peer signs with; its counter is the lowest that is accepted next.
    public var peerSignature: SignatureKey?
    /// The key this device signs with; its counter is one that was never used, see `SignatureCounters`.
    public var localSignature: SignatureKey?
    /// What the peer has subscribed to. Servers keep that for bonded clients (Vol 3, Part G, 3.3.3.3).
    public var subscriptions: [GATTSubscription]
    /// What the peer has said it can do as a client. Servers keep that as well (Vol 3, Part G, 7.2).
    public var clientSupportedFeatures: GATTClientSupportedFeatures
    /// The Database Hash of the peer's server when its services were last discovered (Vol 3, Part G, 7.3); nil if it has none.
    public var databaseHash: UInt128?
    /// What was discovered of the peer's server; nil if there is nothing that may be believed (Vol 3, Part G, 2.5.2).
    public var attributes: AttributeCache?
    /// The handle of the Service Changed value of the peer's server: it indicates that to bonded clients without being asked
    /// again (Vol 3, Part G, 7.1). Nil if it is not known.
    public var serviceChanged: AttributeHandle?
    /// The Database Hash of this device's server that the peer knows; 0, which is no database's, where it may have missed a
    /// change; nil if that is not known.
    public var servedDatabaseHash: UInt128?
    /// The peer's Device Name (Vol 3, Part C, 12.1), as it was last read; nil if it is not known.
    public var name: String?

    public init(
        peer: PeerID, address: DeviceAddress, identity: DeviceIdentity? = nil, centralKey: LongTermKey? = nil,
        peripheralKey: LongTermKey? = nil, strength: KeyStrength, peerSignature: SignatureKey? = nil,
        localSignature: SignatureKey? = nil, subscriptions: [GATTSubscription] = [],
        clientSupportedFeatures: GATTClientSupportedFeatures = [], databaseHash: UInt128? = nil,
        serviceChanged: AttributeHandle? = nil, servedDatabaseHash: UInt128? = nil,
        attributes: AttributeCache? = nil, name: String? = nil
    ) {
        self.peer = peer
        self.address = address
        self.identity = identity
        self.centralKey = centralKey
        self.peripheralKey = peripheralKey
        self.strength = strength
        self.peerSignature = peerSignature
        self.localSignature = localSignature
        self.subscriptions = subscriptions
        self.clientSupportedFeatures = clientSupportedFeatures
        self.databaseHash = databaseHash
        self.serviceChanged = serviceChanged
        self.servedDatabaseHash = servedDatabaseHash
        self.attributes = attributes
        self.name = name
    }
}

/// A bond that a pairing has led to, before it is stored.
public struct MadeBond: Hashable, Sendable {
    /// Where it was made. The link may have ended since.
    public let link: LinkIdentifier
    public let bond: Bond
    /// The bond it takes the place of; nil if there was none.
    public let former: Bond?
}

/// A Connection Signature Resolving Key, and the counter of what it signs next (Core 5.4, Vol 3, Part H, 2.4.2.2).
public struct SignatureKey: Hashable, Sendable {
    public var key: UInt128
    public var counter: UInt32

    public init(key: UInt128, counter: UInt32 = 0) {
        self.key = key
        self.counter = counter
    }
}

// MARK: - No key is ever printed

extension Bond: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String {
        "bond with \(address), \(strength.model.rawValue), "
            + (strength.usesSecureConnections ? "LE Secure Connections" : "legacy") + ", \(strength.keySize) octets"
    }

    public var debugDescription: String { description }

    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "peer": peer, "address": address, "hasIdentity": identity != nil, "hasCentralKey": centralKey != nil,
                "hasPeripheralKey": peripheralKey != nil, "strength": strength,
                "hasPeerSignature": peerSignature != nil, "hasLocalSignature": localSignature != nil,
                "subscriptions": subscriptions, "clientSupportedFeatures": clientSupportedFeatures,
            ])
    }
}

extension SignatureKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "signature key (hidden), counter \(counter)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["counter": counter]) }
}
