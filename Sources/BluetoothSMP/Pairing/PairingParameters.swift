/// What this device brings into one pairing.
public struct PairingParameters: Equatable, Sendable {
    /// What the agent can show and take.
    public var ioCapability: IOCapability
    /// Whether the keys are to be kept.
    public var isBonding: Bool
    /// Whether protection against machines in the middle is required: pairing fails where the models do not give it.
    public var requiresAuthentication: Bool
    /// The peer's data that came out of band.
    public var peerOutOfBandData: OutOfBandData?
    /// Whether the peer got data of this device out of band, made by `SecurityResources.makeOutOfBandData` (LE Secure
    /// Connections) or equal to `peerOutOfBandData` (legacy).
    public var hasSentOutOfBandData: Bool
    /// Whether to send keypress notifications during passkey entry.
    public var sendsKeypresses: Bool
    /// The strength of the keys that exist already: pairing fails where the new ones would be weaker. Nil where there are
    /// none, or where the application agrees to weaker ones.
    public var minimumStrength: KeyStrength?

    public init(
        ioCapability: IOCapability = .noInputNoOutput, isBonding: Bool = true, requiresAuthentication: Bool = false,
        peerOutOfBandData: OutOfBandData? = nil, hasSentOutOfBandData: Bool = false, sendsKeypresses: Bool = false,
        minimumStrength: KeyStrength? = nil
    ) {
        self.ioCapability = ioCapability
        self.isBonding = isBonding
        self.requiresAuthentication = requiresAuthentication
        self.peerOutOfBandData = peerOutOfBandData
        self.hasSentOutOfBandData = hasSentOutOfBandData
        self.sendsKeypresses = sendsKeypresses
        self.minimumStrength = minimumStrength
    }
}

/// What this device accepts of any pairing.
public struct SecurityPolicy: Equatable, Sendable {
    /// Secure Connections Only Mode (Core 5.4, Vol 3, Part C, 10.2.1): legacy pairing is refused.
    public var requiresSecureConnections: Bool
    /// Whether LE Secure Connections is offered.
    public var offersSecureConnections: Bool
    /// The shortest key that is accepted, in octets, 7 to 16. Shorter ones are open to exhaustive search.
    public var minimumKeySize: UInt8
    /// The longest key that is offered, in octets, 7 to 16.
    public var maximumKeySize: UInt8
    /// The models that may be used. Leaving out either numeric comparison or passkey entry prevents method confusion.
    public var models: Set<AssociationModel>
    /// Whether a public key may be the debug key of the specification (Vol 3, Part H, 2.3.5.6.1), and this device uses
    /// it itself. Anyone who listens can then read along.
    public var usesDebugKeys: Bool
    /// The keys this device distributes, and those it wants from a peer.
    public var distributedKeys: KeyDistribution
    public var wantedKeys: KeyDistribution

    public init(
        requiresSecureConnections: Bool = false, offersSecureConnections: Bool = true, minimumKeySize: UInt8 = 16,
        maximumKeySize: UInt8 = 16, models: Set<AssociationModel> = Set(AssociationModel.allCases),
        usesDebugKeys: Bool = false, distributedKeys: KeyDistribution = [.encryption, .identity, .signing],
        wantedKeys: KeyDistribution = [.encryption, .identity, .signing]
    ) {
        self.requiresSecureConnections = requiresSecureConnections
        self.offersSecureConnections = offersSecureConnections
        self.minimumKeySize = minimumKeySize
        self.maximumKeySize = maximumKeySize
        self.models = models
        self.usesDebugKeys = usesDebugKeys
        self.distributedKeys = distributedKeys
        self.wantedKeys = wantedKeys
    }
}
