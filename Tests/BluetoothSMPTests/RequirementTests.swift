import BluetoothBase
import BluetoothSMP
import Testing

/// The requirements of a device for every pairing, in either role and whichever device begins it.
struct RequirementTests {
    /// A requirement, and an offer of the other device that does not meet it.
    struct Shortcoming: CustomTestStringConvertible {
        var testDescription: String
        var requirement: SecurityRequirement
        var offer = SecurityPolicy()
        var reason: PairingFailure

        init(
            _ name: String, _ requirement: SecurityRequirement, offer: SecurityPolicy = SecurityPolicy(),
            _ reason: PairingFailure
        ) {
            testDescription = name
            self.requirement = requirement
            self.offer = offer
            self.reason = reason
        }
    }

    static let shortcomings = [
        Shortcoming("Just Works", SecurityRequirement(requiresAuthentication: true), .authenticationRequirements),
        Shortcoming(
            "legacy pairing", SecurityRequirement(requiresSecureConnections: true),
            offer: SecurityPolicy(offersSecureConnections: false), .authenticationRequirements),
        Shortcoming(
            "a short key", SecurityRequirement(minimumKeySize: 15),
            offer: SecurityPolicy(minimumKeySize: 7, maximumKeySize: 14), .encryptionKeySize),
    ]

    private func couple(_ shortcoming: Shortcoming, _ strict: LinkRole) -> PairingCouple {
        var couple = PairingCouple(policy: shortcoming.offer)
        couple[strict].resources.policy = SecurityPolicy()
        couple[strict].resources.policy.requirement = shortcoming.requirement
        return couple
    }

    @Test(arguments: shortcomings, LinkRole.allCases)
    func `A pairing that does not meet a device's requirement is rejected, whichever side begins`(
        _ shortcoming: Shortcoming, _ strict: LinkRole
    ) {
        for beginner in LinkRole.allCases {
            var couple = couple(shortcoming, strict)
            if beginner == .peripheral {
                couple.apply(.begin, to: .peripheral)
                couple.run()
            }
            couple.pair()
            #expect(couple[strict].error == .local(shortcoming.reason))
            #expect(couple[strict == .central ? .peripheral : .central].error == .peer(shortcoming.reason))
            #expect(couple.sent.last?.octets == [0x05, shortcoming.reason.rawValue])
            #expect(!couple.isEncrypted)
        }
    }

    @Test(arguments: LinkRole.allCases)
    func `A device that requires authentication requests MITM protection, and gets it if both devices can`(
        _ strict: LinkRole
    ) {
        var couple = PairingCouple(PairingParameters(ioCapability: .displayYesNo))
        couple[strict].resources.policy.requiresAuthentication = true
        couple.apply(.begin, to: .peripheral)
        couple.run()
        couple.pair()
        couple.expectEqualKeys(model: .numericComparison, secure: true)
        // AuthReq of Security Request, Pairing Request and Pairing Response.
        let requirements = couple.sent.prefix(3).map {
            AuthenticationRequirements(rawValue: $0.octets[$0.octets[0] == 0x0B ? 1 : 3])
        }
        let isCentral = strict == .central
        #expect(requirements.map { $0.contains(.mitmProtection) } == [!isCentral, isCentral, !isCentral])
    }

    @Test func `New keys are authenticated if the existing keys are`() {
        let existing = KeyStrength(model: .passkeyEntry, usesSecureConnections: true, keySize: 16)
        var couple = PairingCouple(PairingParameters(ioCapability: .displayYesNo, minimumStrength: existing))
        couple.pair()
        couple.expectEqualKeys(model: .numericComparison, secure: true)
    }

    @Test func `A requirement is met only by keys that are at least as strong in every respect`() {
        let strengths = [AssociationModel.justWorks, .passkeyEntry].flatMap { model in
            [false, true].flatMap { secure in
                [7, 16].map { KeyStrength(model: model, usesSecureConnections: secure, keySize: $0) }
            }
        }
        for required in strengths {
            for strength in strengths {
                let isMet =
                    (strength.isAuthenticated || !required.isAuthenticated)
                    && (strength.usesSecureConnections || !required.usesSecureConnections)
                    && strength.keySize >= required.keySize
                let requirement = SecurityPolicy(minimumKeySize: 7).requirement(
                    for: PairingParameters(minimumStrength: required))
                #expect(requirement.isMet(by: strength) == isMet)
            }
        }
    }
}
