/// The parameters of this device for one pairing.
public struct PairingParameters: Hashable, Sendable {
    /// The input and output capabilities of the agent.
    public var ioCapability: IOCapability
    /// Whether the keys are stored.
    public var isBonding: Bool
    /// Whether MITM protection is required, even if the policy does not require it. Pairing fails if the selected
    /// association model does not provide it.
    public var requiresAuthentication: Bool
    /// Whether MITM protection is requested, but not required: devices that cannot provide it still pair, with Just
    /// Works.
    public var requestsAuthentication: Bool
    /// The peer's out-of-band data.
    public var peerOutOfBandData: OutOfBandData?
    /// Whether the peer has received out-of-band data of this device: data made by
    /// `SecurityResources.makeOutOfBandData` (LE Secure Connections), or equal to `peerOutOfBandData` (legacy).
    public var hasSentOutOfBandData: Bool
    /// Whether to send keypress notifications during passkey entry.
    public var sendsKeypresses: Bool
    /// The strength of the existing keys: pairing fails if the new keys would be weaker. Nil if there are no keys, or
    /// if the application agrees to weaker ones.
    public var minimumStrength: KeyStrength?
    /// Whether the peer has proved on this link that it has the keys of `minimumStrength`.
    public var provesExistingKeys: Bool

    /// Creates parameters. By default the device bonds with Just Works, and requires no authentication.
    public init(
        ioCapability: IOCapability = .noInputNoOutput, isBonding: Bool = true, requiresAuthentication: Bool = false,
        requestsAuthentication: Bool = false, peerOutOfBandData: OutOfBandData? = nil,
        hasSentOutOfBandData: Bool = false, sendsKeypresses: Bool = false, minimumStrength: KeyStrength? = nil,
        provesExistingKeys: Bool = true
    ) {
        self.ioCapability = ioCapability
        self.isBonding = isBonding
        self.requiresAuthentication = requiresAuthentication
        self.requestsAuthentication = requestsAuthentication
        self.peerOutOfBandData = peerOutOfBandData
        self.hasSentOutOfBandData = hasSentOutOfBandData
        self.sendsKeypresses = sendsKeypresses
        self.minimumStrength = minimumStrength
        self.provesExistingKeys = provesExistingKeys
    }
}

/// What this device accepts in any pairing.
public struct SecurityPolicy: Equatable, Sendable {
    /// The minimum that is accepted.
    public var requirement: SecurityRequirement
    /// Whether LE Secure Connections is offered.
    public var offersSecureConnections: Bool
    /// The longest key that is offered, in octets, 7 to 16.
    public var maximumKeySize: UInt8
    /// The allowed association models. Excluding either numeric comparison or passkey entry prevents method confusion.
    public var models: Set<AssociationModel>
    /// Whether the debug key of the specification (Vol 3, Part H, 2.3.5.6.1) is allowed as a public key, and is used by
    /// this device. Anyone who listens can then decrypt the traffic.
    public var usesDebugKeys: Bool
    /// The keys that this device distributes.
    public var distributedKeys: KeyDistribution
    /// The keys that this device requests from a peer.
    public var wantedKeys: KeyDistribution

    /// Creates a policy. By default any association model is accepted, and keys must have the full 16 octets.
    /// - Parameter minimumKeySize: In octets, 7 to 16.
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

    /// The requirement for one pairing: that of this policy and of the application, and at least the strength of the
    /// existing keys. If bonds are protected, a peer that has not proved that it has those keys must be authenticated
    /// to replace them.
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
