import BluetoothBase

/// The parameters that two devices have agreed on with Pairing Request and Pairing Response (Core 5.4, Vol 3, Part H,
/// 2.3).
struct Agreement: Hashable, Sendable {
    var role: LinkRole
    var localAddress: DeviceAddress
    var remoteAddress: DeviceAddress
    /// The seven octets of the PDUs as they were sent, including reserved bits: the check values cover them.
    var request: UInt64
    var response: UInt64
    var strength: KeyStrength
    var entry: PasskeyEntryRoles
    var isBonded: Bool
    /// The keys to distribute, and the keys to receive.
    var localKeys: KeyDistribution
    var peerKeys: KeyDistribution
    /// Whether keypress notifications are sent.
    var sendsKeypresses: Bool
    /// The peer's out-of-band data, if the association model uses it.
    var peerOutOfBandData: OutOfBandData?
    /// Whether the peer has this device's out-of-band data and the association model uses it.
    var peerHasOutOfBandData: Bool

    var initiator: DeviceAddress { role == .central ? localAddress : remoteAddress }
    var responder: DeviceAddress { role == .central ? remoteAddress : localAddress }
    /// Whether this device shows the passkey rather than asking for it.
    var showsPasskey: Bool { entry == (role == .central ? .initiatorShows : .responderShows) }

    /// AuthReq, OOB data flag and IO capability of this device and of the peer, in the form that f6 takes.
    var localCapabilities: UInt32 { Self.capabilities(role == .central ? request : response) }
    var peerCapabilities: UInt32 { Self.capabilities(role == .central ? response : request) }

    private static func capabilities(_ octets: UInt64) -> UInt32 {
        UInt32(truncatingIfNeeded: octets >> 8) & 0xFF_FFFF
    }

    /// A key shortened to the negotiated size (Vol 3, Part H, 2.3.4): its most significant octets are zero.
    func masked(_ key: UInt128) -> UInt128 {
        let size = min(max(Int(strength.keySize), 7), 16)
        return size == 16 ? key : key & (1 << UInt128(8 * size) - 1)
    }
}

/// The Pairing Request and Pairing Response, from which an `Agreement` is made.
struct FeatureExchange: Sendable {
    var role: LinkRole
    var localAddress: DeviceAddress
    var remoteAddress: DeviceAddress
    var request: PairingFeatures
    var response: PairingFeatures
    var requestOctets: UInt64
    var responseOctets: UInt64

    /// Derives the association model, and everything else that follows from the features of both devices. Throws if
    /// this device requires more.
    func agreement(
        _ parameters: PairingParameters, _ resources: SecurityResources
    ) throws(PairingFailure) -> Agreement {
        let policy = resources.policy
        let usesSecureConnections = request.requirements.intersection(response.requirements)
            .contains(.secureConnections)
        let (model, entry) = AssociationModel.select(
            initiator: request, responder: response, usesSecureConnections: usesSecureConnections)
        let strength = KeyStrength(
            model: model, usesSecureConnections: usesSecureConnections,
            keySize: min(request.maximumKeySize, response.maximumKeySize))
        if !policy.models.contains(model) { throw .authenticationRequirements }
        if let shortcoming = policy.requirement(for: parameters).shortcoming(of: strength) { throw shortcoming }

        let (localFeatures, peerFeatures) = role == .central ? (request, response) : (response, request)
        let peerHasData = model == .outOfBand && peerFeatures.hasOutOfBandData
        if usesSecureConnections, peerHasData,
            !parameters.hasSentOutOfBandData || resources.localOutOfBandData == nil
        {
            throw .outOfBandNotAvailable
        }
        let peerData = model == .outOfBand && localFeatures.hasOutOfBandData ? parameters.peerOutOfBandData : nil
        if model == .outOfBand, !usesSecureConnections {
            guard case .temporaryKey = peerData else { throw .outOfBandNotAvailable }
        }

        let isBonded = request.requirements.intersection(response.requirements).contains(.bonding)
        // The key distribution fields alone decide which keys are sent, even if a device stores none of them (3.6.1).
        let initiatorKeys = request.initiatorKeys.intersection(response.initiatorKeys)
        let responderKeys = request.responderKeys.intersection(response.responderKeys)
        let keypress = request.requirements.intersection(response.requirements).contains(.keypress)
        return Agreement(
            role: role, localAddress: localAddress, remoteAddress: remoteAddress, request: requestOctets,
            response: responseOctets, strength: strength,
            entry: entry, isBonded: isBonded,
            localKeys: role == .central ? initiatorKeys : responderKeys,
            peerKeys: role == .central ? responderKeys : initiatorKeys,
            sendsKeypresses: usesSecureConnections && keypress, peerOutOfBandData: peerData,
            peerHasOutOfBandData: peerHasData)
    }
}

extension PairingFeatures {
    /// Throws if a field is outside the specification's range (Vol 3, Part H, 3.5.1).
    func validate() throws(PairingFailure) {
        if maximumKeySize < 7 { throw .encryptionKeySize }
        if maximumKeySize > 16 { throw .invalidParameters }
    }

    /// The features in the Pairing Request of this device, as a central.
    init(request parameters: PairingParameters, _ resources: SecurityResources) {
        let policy = resources.policy
        let offersSecureConnections = policy.offersSecureConnections(with: parameters)
        self.init(
            ioCapability: parameters.ioCapability,
            hasOutOfBandData: parameters.hasPeerData(forSecureConnections: offersSecureConnections),
            requirements: AuthenticationRequirements(parameters, policy),
            maximumKeySize: policy.keySizes.upperBound,
            initiatorKeys: parameters.isBonding ? resources.distributableKeys : [],
            responderKeys: parameters.isBonding ? policy.obtainableKeys : [])
    }

    /// The features in the Pairing Response of this device, as a peripheral.
    init(response parameters: PairingParameters, to request: PairingFeatures, _ resources: SecurityResources) {
        let policy = resources.policy
        let usesSecureConnections =
            policy.offersSecureConnections(with: parameters) && request.requirements.contains(.secureConnections)
        let isBonded = parameters.isBonding && request.requirements.contains(.bonding)
        self.init(
            ioCapability: parameters.ioCapability,
            hasOutOfBandData: parameters.hasPeerData(forSecureConnections: usesSecureConnections),
            requirements: AuthenticationRequirements(parameters, policy),
            maximumKeySize: policy.keySizes.upperBound,
            initiatorKeys: isBonded ? request.initiatorKeys.intersection(policy.obtainableKeys) : [],
            responderKeys: isBonded ? request.responderKeys.intersection(resources.distributableKeys) : [])
    }
}

extension AuthenticationRequirements {
    init(_ parameters: PairingParameters, _ policy: SecurityPolicy) {
        self = []
        if parameters.isBonding { insert(.bonding) }
        if parameters.requestsAuthentication || policy.requirement(for: parameters).requiresAuthentication {
            insert(.mitmProtection)
        }
        if policy.offersSecureConnections(with: parameters) { insert(.secureConnections) }
        if parameters.sendsKeypresses { insert(.keypress) }
    }
}

extension PairingParameters {
    /// Whether the peer's data can be used: legacy pairing and LE Secure Connections need different data.
    fileprivate func hasPeerData(forSecureConnections: Bool) -> Bool {
        switch peerOutOfBandData {
        case nil: false
        case .temporaryKey: !forSecureConnections
        case .secureConnections: forSecureConnections
        }
    }
}

extension SecurityPolicy {
    /// Whether to offer LE Secure Connections. An out-of-band temporary key is only useful in legacy pairing.
    fileprivate func offersSecureConnections(with parameters: PairingParameters) -> Bool {
        if requiresSecureConnections { return true }
        if case .temporaryKey = parameters.peerOutOfBandData { return false }
        return offersSecureConnections
    }

    /// The allowed key sizes, within the specification's range.
    var keySizes: ClosedRange<UInt8> {
        let maximum = min(max(maximumKeySize, 7), 16)
        return min(max(minimumKeySize, 7), maximum)...maximum
    }

    fileprivate var obtainableKeys: KeyDistribution { wantedKeys.intersection([.encryption, .identity, .signing]) }
}

extension SecurityResources {
    /// The keys that this device can distribute. A device without private addresses has no identity to reveal.
    fileprivate var distributableKeys: KeyDistribution {
        var keys = policy.distributedKeys.intersection([.encryption, .identity, .signing])
        if identity.resolvingKey == 0 || !identity.address.isIdentity { keys.remove(.identity) }
        return keys
    }
}
