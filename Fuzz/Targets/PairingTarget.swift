import BluetoothBase
import BluetoothSMP

/// Our role, what both devices want and can do, and then what happens: PDUs of an honest peer arrive, as they were sent
/// or not; the peer sends anything else; people answer; encryption starts or fails; time passes. At the end the link is
/// lost.
///
/// The peer knows what its person has, and what this device has sent, but no key of ours. So a pairing that succeeds is
/// one that both people wanted, with the passkey or the number that both have.
func fuzzPairing(_ input: inout FuzzInput) throws(FuzzViolation) {
    var bench = PairingBench(&input)
    while !input.isEmpty {
        switch input.choice(of: 20) {
        case 0, 1: try bench.begin()
        case 2: try bench.answer(.refuse)
        case 3: try bench.answer(.passkey(UInt32(input.word()) << 4 | UInt32(input.byte())))
        case 4, 5: try bench.answerRightly()
        case 6: try bench.pass(.seconds(Int64(input.byte() & 0x3F)))
        case 7: try bench.cancel()
        case 8: try bench.press(KeypressNotification.allCases[input.choice(of: KeypressNotification.allCases.count)])
        case 9: try bench.encrypt(failure: input.byte())
        case 10, 11: try bench.encrypt(failure: nil)
        case 12: try bench.deliver(altering: input.byte(), by: input.byte())
        case 13: bench.drop()
        case 14: bench.repeatLast()
        case 15...17: try bench.deliver()
        default: try bench.receive(input.chunk())
        }
    }
    try bench.disconnect()
}

extension FuzzInput {
    /// What a device brings into a pairing.
    @_lifetime(self: copy self)
    mutating func pairingParameters() -> PairingParameters {
        let choices = byte()
        var parameters = PairingParameters(
            ioCapability: IOCapability.allCases[Int(choices & 7) % IOCapability.allCases.count],
            isBonding: choices & 8 == 0, requiresAuthentication: choices & 16 != 0)
        parameters.sendsKeypresses = choices & 32 != 0
        if choices & 64 != 0 { parameters.peerOutOfBandData = .temporaryKey(UInt128(choices >> 7)) }
        return parameters
    }

    /// What a device accepts.
    @_lifetime(self: copy self)
    mutating func securityPolicy() -> SecurityPolicy {
        let choices = byte()
        return SecurityPolicy(
            requiresSecureConnections: choices & 3 == 3, offersSecureConnections: choices & 1 == 0,
            minimumKeySize: 7 + (choices >> 2 & 1) * 9, maximumKeySize: 16 - (choices >> 3 & 1) * 9,
            distributedKeys: KeyDistribution(rawValue: choices >> 4 & 7),
            wantedKeys: KeyDistribution(rawValue: (choices >> 5 & 7) ^ 7))
    }
}

extension PairingParameters {
    /// What may be asked of the keys, as far as a result tells.
    func isSatisfied(by result: PairingResult, _ policy: SecurityPolicy) -> Bool {
        let strength = result.strength
        return (strength.isAuthenticated || !requiresAuthentication) && (isBonding || !result.isBonded)
            && (strength.usesSecureConnections || !policy.requiresSecureConnections)
            && (!strength.usesSecureConnections || policy.offersSecureConnections || policy.requiresSecureConnections)
            && strength.keySize >= min(policy.minimumKeySize, policy.maximumKeySize) && strength.keySize <= 16
            && policy.models.contains(strength.model)
    }
}
