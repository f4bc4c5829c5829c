import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothSMP

/// The data kept about a peer after pairing, so that later links need no pairing (Core 5.4, Vol 3, Part C, 9.4.4).
///
/// A bond belongs to the local identity, address and IRK, with which it was made: under any other identity, the peer
/// does not recognize this device. No key appears in its descriptions.
public struct Bond: Hashable, Sendable {
    /// The peer. Its `PeerID` stays the same as long as the bond exists. An identity has at most one bond with each
    /// peer.
    public var peer: PeerID
    /// The peer's identity address, or the address with which it paired if it has distributed none.
    public var address: DeviceAddress
    /// The peer's identity address and IRK; nil if it has distributed none.
    public var identity: DeviceIdentity?
    /// The key for links on which this device is the central.
    public var centralKey: LongTermKey?
    /// The key for links on which this device is the peripheral.
    public var peripheralKey: LongTermKey?
    /// The strength of these keys.
    public var strength: KeyStrength
    /// The peer's signing key. Its counter is the lowest that will be accepted.
    public var peerSignature: SignatureKey?
    /// This device's signing key. Its counter has never been used, see `SignatureCounters`.
    public var localSignature: SignatureKey?
    /// The peer's subscriptions, which servers keep for bonded clients (Vol 3, Part G, 3.3.3.3).
    public var subscriptions: [GATTSubscription]
    /// The features that the peer supports as a client. Servers keep them for bonded clients (Vol 3, Part G, 7.2).
    public var clientSupportedFeatures: GATTClientSupportedFeatures
    /// The Database Hash of the peer's server when its services were last discovered (Vol 3, Part G, 7.3); nil if the
    /// server has none.
    public var databaseHash: UInt128?
    /// The discovery results for the peer's server; nil if there are none that can be trusted (Vol 3, Part G, 2.5.2).
    public var attributes: AttributeCache?
    /// The handle of the Service Changed value of the peer's server, which indicates changes to bonded clients without
    /// another subscription (Vol 3, Part G, 7.1). Nil if it is not known.
    public var serviceChangedHandle: AttributeHandle?
    /// The Database Hash of this device's server that the peer knows. If the peer may have missed a change, it is 0,
    /// which is no database's hash. Nil if it is not known.
    public var servedDatabaseHash: UInt128?
    /// The peer's Device Name (Vol 3, Part C, 12.1), as last read; nil if it is not known.
    public var name: String?

    /// Creates a bond, for example from a store. Omit keys that were not distributed, and values that are not known.
    public init(
        peer: PeerID, address: DeviceAddress, identity: DeviceIdentity? = nil, centralKey: LongTermKey? = nil,
        peripheralKey: LongTermKey? = nil, strength: KeyStrength, peerSignature: SignatureKey? = nil,
        localSignature: SignatureKey? = nil, subscriptions: [GATTSubscription] = [],
        clientSupportedFeatures: GATTClientSupportedFeatures = [], databaseHash: UInt128? = nil,
        serviceChangedHandle: AttributeHandle? = nil, servedDatabaseHash: UInt128? = nil,
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
        self.serviceChangedHandle = serviceChangedHandle
        self.servedDatabaseHash = servedDatabaseHash
        self.attributes = attributes
        self.name = name
    }
}

/// A bond made by a pairing, before it is stored.
public struct MadeBond: Hashable, Sendable {
    /// The link of the pairing. It may have ended since.
    public let link: LinkIdentifier
    /// The new bond, with the keys of this pairing.
    public let bond: Bond
    /// The bond that this one replaces; nil if there was none.
    public let former: Bond?
}

/// A Connection Signature Resolving Key, and the counter for the next signature (Core 5.4, Vol 3, Part H, 2.4.2.2).
public struct SignatureKey: Hashable, Sendable {
    /// The Connection Signature Resolving Key (CSRK), which signs and verifies data.
    public var key: UInt128
    /// The SignCounter: for this device's key, one that was never used; for a peer's key, the lowest that is accepted.
    public var counter: UInt32

    /// Creates a key. The counter of a newly distributed key is 0.
    public init(key: UInt128, counter: UInt32 = 0) {
        self.key = key
        self.counter = counter
    }
}

// MARK: - Keys are never printed

extension Bond: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The address, association model, kind of pairing and key size, such as
    /// `bond with C0:00:00:00:00:01, numericComparison, LE Secure Connections, 16 octets`.
    public var description: String {
        "bond with \(address), \(strength.model.rawValue), "
            + (strength.usesSecureConnections ? "LE Secure Connections" : "legacy") + ", \(strength.keySize) octets"
    }

    /// The same text as `description`, so that debug output contains no key either.
    public var debugDescription: String { description }

    /// The properties without keys: for each key, only whether it exists.
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
    /// The counter, with a placeholder for the key.
    public var description: String { "signature key (hidden), counter \(counter)" }
    /// The same text as `description`, so that debug output does not contain the key.
    public var debugDescription: String { description }
    /// The counter only, so that `dump` does not print the key.
    public var customMirror: Mirror { Mirror(self, children: ["counter": counter]) }
}
