/// What this device brings into one pairing.
public struct PairingParameters: Hashable, Sendable {
    /// What the agent can show and take.
    public var ioCapability: IOCapability
    /// Whether the keys are to be kept.
    public var isBonding: Bool
    /// Whether protection against machines in the middle is required, also where the policy does not require it: pairing fails
    /// where the models do not give it.
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
    /// Whether the peer has shown on this link that it has the keys of `minimumStrength`.
    public var provesExistingKeys: Bool

    public init(
        ioCapability: IOCapability = .noInputNoOutput, isBonding: Bool = true, requiresAuthentication: Bool = false,
        peerOutOfBandData: OutOfBandData? = nil, hasSentOutOfBandData: Bool = false, sendsKeypresses: Bool = false,
        minimumStrength: KeyStrength? = nil, provesExistingKeys: Bool = true
    ) {
        self.ioCapability = ioCapability
        self.isBonding = isBonding
        self.requiresAuthentication = requiresAuthentication
        self.peerOutOfBandData = peerOutOfBandData
        self.hasSentOutOfBandData = hasSentOutOfBandData
        self.sendsKeypresses = sendsKeypresses
        self.minimumStrength = minimumStrength
        self.provesExistingKeys = provesExistingKeys
    }
}

/// What this device accepts of any pairing.
public struct SecurityPolicy: Equatable, Sendable {
    /// The least that is accepted.
    public var requirement: SecurityRequirement
    /// Whether LE Secure Connections is offered.
    public var offersSecureConnections: Bool
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
        requiresAuthentication: Bool = false, requiresSecureConnections: Bool = false,
        offersSecureConnections: Bool = true, minimumKeySize: UInt8 = 16, maximumKeySize: UInt8 = 16,
        models: Set<AssociationModel> = Set(AssociationModel.allCases), usesDebugKeys: Bool = false,
        distributedKeys: KeyDistribution = [.encryption, .identity, .signing],
        wantedKeys: KeyDistribution = [.encryption, .identity, .signing]
    ) {
        requirement = SecurityRequirement(
            requiresAuthentication: requiresAuthentication, requiresSecureConnections: requiresSecureConnections,
            minimumKeySize: minimumKeySize)
        self.offersSecureConnections = offersSecureConnections
        self.maximumKeySize = maximumKeySize
        self.models = models
        self.usesDebugKeys = usesDebugKeys
        self.distributedKeys = distributedKeys
        self.wantedKeys = wantedKeys
    }

    /// See `SecurityRequirement.requiresAuthentication`.
    public var requiresAuthentication: Bool {
        get { requirement.requiresAuthentication }
        set { requirement.requiresAuthentication = newValue }
    }

    /// See `SecurityRequirement.requiresSecureConnections`.
    public var requiresSecureConnections: Bool {
        get { requirement.requiresSecureConnections }
        set { requirement.requiresSecureConnections = newValue }
    }

    /// See `SecurityRequirement.minimumKeySize`.
    public var minimumKeySize: UInt8 {
        get { requirement.minimumKeySize }
        set { requirement.minimumKeySize = newValue }
    }

    /// The requirement for one pairing: that of this policy and that of the application, and no less than the keys that
    /// exist already. A peer that has not shown that it has those must be authenticated to replace them.
    public func requirement(for parameters: PairingParameters) -> SecurityRequirement {
        var requirement = self.requirement
        requirement.minimumKeySize = keySizes.lowerBound
        if parameters.requiresAuthentication { requirement.requiresAuthentication = true }
        guard let existing = parameters.minimumStrength else { return requirement }
        requirement.raise(to: existing)
        if requirement.protectsBonds, !parameters.provesExistingKeys { requirement.requiresAuthentication = true }
        return requirement
    }
}
