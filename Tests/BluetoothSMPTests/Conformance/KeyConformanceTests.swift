import BluetoothBase
import BluetoothSMP
import Testing

/// Keys as the Security Manager test suite asks for them: SM/…/EKS, KDU and PIS.
@Suite("SM conformance: keys")
struct KeyConformanceTests {
    // MARK: Key size

    @Test(
        "SM/CEN/EKS/BI-01, SM/PER/EKS/BI-02: a peer whose longest key is one octet too short is rejected",
        arguments: LinkRole.allCases, 7...16 as ClosedRange<UInt8>)
    func keyTooShort(_ role: LinkRole, _ minimum: UInt8) {
        var tester = PairingTester(
            role, policy: SecurityPolicy(minimumKeySize: minimum), authReq: 0x00, keySize: minimum - 1)
        #expect(throws: PairingTester.Stopped.self) { try tester.pair() }
        LegacyPairingConformanceTests.expectRefusal(tester, 0x06)
    }

    // MARK: Distribution

    struct Distribution: CustomTestStringConvertible {
        var codes: String
        var keys: KeyDistribution
        var secure: Bool
        /// The codes of the PDUs that the device sends.
        var pdus: [UInt8]
        var testDescription: String { codes }
    }

    static let distributions = [
        Distribution(
            codes: "SM/PER/KDU/BV-01, SM/CEN/KDU/BV-06", keys: .encryption, secure: false, pdus: [0x06, 0x07]),
        Distribution(codes: "SM/PER/KDU/BV-02, SM/CEN/KDU/BV-05", keys: .identity, secure: false, pdus: [0x08, 0x09]),
        Distribution(codes: "SM/PER/KDU/BV-03, SM/CEN/KDU/BV-04", keys: .signing, secure: false, pdus: [0x0A]),
        Distribution(codes: "SM/PER/KDU/BV-08, SM/CEN/KDU/BV-10", keys: .identity, secure: true, pdus: [0x08, 0x09]),
        Distribution(codes: "SM/PER/KDU/BV-09, SM/CEN/KDU/BV-11", keys: .signing, secure: true, pdus: [0x0A]),
    ]

    @Test(
        "SM/PER/KDU/BV-01 to BV-03, BV-08, BV-09, SM/CEN/KDU/BV-04 to BV-06, BV-10, BV-11: only the wanted key is sent",
        arguments: LinkRole.allCases, distributions)
    func oneKey(_ role: LinkRole, _ row: Distribution) throws {
        let bit = row.keys.rawValue
        var tester = PairingTester(
            role,
            policy: SecurityPolicy(offersSecureConnections: row.secure, distributedKeys: row.keys, wantedKeys: []),
            authReq: row.secure ? 0x09 : 0x01, keys: role == .central ? (bit, 0) : (0, bit))
        try tester.pair()
        #expect(tester.deviceFeatures[2] & 0x08 == (row.secure ? 0x08 : 0))
        #expect(Array(tester.deviceFeatures[4...5]) == (role == .central ? [bit, 0] : [0, bit]))
        #expect(tester.received.map { $0[0] }.filter { (0x06...0x0A).contains($0) } == row.pdus)
        let result = try #require(tester.device.result)
        switch row.keys {
        case .encryption:
            let key = try #require(result.peripheralKey)
            let (diversifier, random) = (key.encryptedDiversifier, key.random)
            #expect(random != 0)
            #expect(
                tester.inbox == [
                    SecurityManagerPDU.encryptionInformation(longTermKey: key.key).octets,
                    SecurityManagerPDU.centralIdentification(encryptedDiversifier: diversifier, random: random).octets,
                ])
        case .identity:
            let identity = tester.device.resources.identity
            #expect(
                tester.inbox == [
                    SecurityManagerPDU.identityInformation(resolvingKey: identity.resolvingKey).octets,
                    SecurityManagerPDU.identityAddressInformation(identity.address).octets,
                ])
            // The type of the address is 0 for a public one, and 1 for a static random one.
            #expect(tester.inbox[1][1] == (role == .central ? 1 : 0))
        default:
            let key = try #require(result.localSignatureKey)
            #expect(tester.inbox == [SecurityManagerPDU.signingInformation(signatureKey: key).octets])
        }
    }

    @Test(
        "SM/PER/KDU/BI-02, SM/PER/KDU/BI-03: a peer that rejects a key ends the pairing, and the reason is reported",
        arguments: [false, true], [true, false])
    func keyRejected(_ secure: Bool, _ sendsKeysToo: Bool) throws {
        let wanted: KeyDistribution = sendsKeysToo ? [.encryption, .identity, .signing] : []
        var tester = PairingTester(
            .peripheral, policy: SecurityPolicy(wantedKeys: wanted), authReq: secure ? 0x09 : 0x01, keys: (0x07, 0x07))
        try tester.exchangeFeatures()
        #expect(Array(tester.deviceFeatures[4...5]) == [wanted.rawValue, 0x07])
        #expect(!secure || tester.deviceFeatures[2] & 0x08 == 0x08)
        if sendsKeysToo {
            try tester.authenticate()
            try tester.encrypt()
            #expect(tester.inbox.map { $0[0] } == (secure ? [] : [0x06, 0x07]) + [0x08, 0x09, 0x0A])
        }
        let count = tester.received.count
        tester.send([0x05, 0x0F])
        #expect(tester.received.count == count)
        #expect(tester.device.error == .peer(.keyRejected))
        #expect(!tester.device.pairing.isUnderWay)
    }

    // MARK: Public keys that are invalid

    enum InvalidKey: String, CaseIterable {
        case yIsZero, yHasOtherBit, bothAreZero, xOfTheDevice
    }

    @Test(
        "SM/PER/KDU/BI-01, BI-04, SM/CEN/KDU/BI-01, BI-04: an invalid public key is rejected with DHKey Check Failed",
        arguments: LinkRole.allCases, InvalidKey.allCases)
    func invalidPublicKey(_ role: LinkRole, _ kind: InvalidKey) throws {
        let valid = try #require(PairingTester.keyPair).publicKey
        let zero = FieldElement(high: 0, low: 0)
        for bit in kind == .yHasOtherBit ? 0..<128 : 0..<1 {
            var tester = PairingTester(role, authReq: 0x08)
            try tester.exchangeFeatures()
            var key = valid
            switch kind {
            case .yIsZero: key.y = zero
            case .yHasOtherBit: key.y.low ^= 1 << UInt128(bit)
            case .bothAreZero: key = P256PublicKey(x: zero, y: zero)
            case .xOfTheDevice:
                // A responder has not shown its key yet.
                guard role == .central else { return }
                let own = try #require(tester.inbox.first)
                key = P256PublicKey(x: PairingTester.field(own[1..<33]), y: PairingTester.field(own[33..<65]))
            }
            tester.publicKey = key
            try tester.exchangePublicKeys()
            LegacyPairingConformanceTests.expectRefusal(tester, 0x0B)
            #expect(tester.deviceKey == nil)
        }
    }

    // MARK: Security Request

    @Test("SM/PER/PIS/BV-01: a peripheral requests MITM protection, and the central's pairing succeeds")
    func peripheralAsks() throws {
        var tester = PairingTester(
            .peripheral, PairingParameters(ioCapability: .displayOnly, requiresAuthentication: true),
            ioCapability: .keyboardOnly, authReq: 0x0D)
        tester.give(.begin)
        #expect(try tester.take(0x0B)[1] & 0x05 == 0x05)
        try tester.pair()
        #expect(tester.device.result?.strength.isAuthenticated == true)
    }

    @Test(
        """
        SM/CEN/PIS/BV-02, SM/CEN/PIS/BV-03: a central without a bond answers a Security Request with a Pairing Request, and \
        ignores a second one
        """, arguments: [false, true])
    func centralIsAsked(_ asksTwice: Bool) throws {
        var tester = PairingTester(
            .central, PairingParameters(ioCapability: .displayOnly), ioCapability: .keyboardOnly, authReq: 0x0C)
        tester.send([0x0B, 0x04])
        #expect(tester.device.securityRequests == [.mitmProtection] && tester.deviceKey == nil)
        tester.give(.begin)
        #expect(tester.inbox.map { $0[0] } == [0x01])
        if asksTwice {
            tester.send([0x0B, 0x04])
            #expect(tester.device.securityRequests.count == 1 && tester.inbox.count == 1 && tester.deviceKey == nil)
        }
        try tester.respond()
        try tester.authenticate()
        try tester.encrypt()
        #expect(tester.device.result?.strength.isAuthenticated == true)
    }

    // MARK: Non-bondable mode

    @Test(
        """
        GAP/BOND/NBON/BV-01, BV-02, BV-03: a device that does not bond says so, and distributes and keeps no keys, \
        whether it starts pairing, receives a Security Request or receives a Pairing Request
        """, arguments: [(LinkRole.central, true), (.central, false), (.peripheral, false)], [0x01, 0x09] as [UInt8])
    func nonBondable(_ part: (role: LinkRole, isAskedForSecurity: Bool), _ authReq: UInt8) throws {
        var tester = PairingTester(part.role, PairingParameters(isBonding: false), authReq: authReq, keys: (0x07, 0x07))
        if part.isAskedForSecurity {
            tester.send([0x0B, authReq])
            #expect(tester.device.securityRequests.count == 1)
        }
        if part.role == .central { tester.features[4...5] = [0, 0] }
        try tester.pair()
        #expect(tester.deviceFeatures[2] & 0x03 == 0 && tester.deviceFeatures[4...5] == [0, 0])
        #expect(tester.device.result?.isBonded == false)
        #expect(!tester.received.contains { (0x06...0x0A).contains($0[0]) })
    }
}
