import BluetoothBase
import BluetoothSMP
import Testing

/// LE legacy pairing as the Security Manager test suite asks for it: SM/…/JW, PKE and OOB.
@Suite("SM conformance: legacy pairing")
struct LegacyPairingConformanceTests {
    static let withoutBonding = PairingParameters(ioCapability: .noInputNoOutput, isBonding: false)

    /// The device ends the pairing itself, for this reason.
    static func expectRefusal(
        _ tester: PairingTester, _ reason: UInt8, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(tester.received.last == [0x05, reason], sourceLocation: sourceLocation)
        #expect(tester.device.error == .local(PairingFailure(rawValue: reason)), sourceLocation: sourceLocation)
    }

    // MARK: Just Works

    @Test("SM/CEN/JW/BV-01, SM/PER/JW/BV-02: Just Works encrypts the link", arguments: LinkRole.allCases)
    func justWorks(_ role: LinkRole) throws {
        var tester = PairingTester(
            role, Self.withoutBonding, ioCapability: role == .central ? .keyboardDisplay : .noInputNoOutput,
            authReq: 0x00)
        try tester.pair()
        #expect(tester.deviceFeatures[1] == 0 && tester.deviceFeatures[2] & 0xC7 == 0)
        #expect(
            tester.device.result?.strength
                == KeyStrength(model: .justWorks, usesSecureConnections: false, keySize: 16))
    }

    @Test(
        "SM/PER/JW/BI-03, SM/CEN/JW/BI-04: reserved bits of the peer's AuthReq change nothing, and the device sends none",
        arguments: LinkRole.allCases, [0x40, 0x80, 0xC0] as [UInt8])
    func reservedBits(_ role: LinkRole, _ bits: UInt8) throws {
        var tester = PairingTester(role, Self.withoutBonding, authReq: bits)
        try tester.pair()
        #expect(tester.deviceFeatures[1] == 0 && tester.deviceFeatures[2] & 0xC0 == 0)
        #expect(
            tester.device.result?.strength
                == KeyStrength(model: .justWorks, usesSecureConnections: false, keySize: 16))
    }

    @Test(
        "SM/CEN/JW/BV-05: a Pairing Request answered with Pairing Failed ends the pairing, and the reason is reported",
        arguments: [0x08, 0x05, 0x09, 0x10] as [UInt8])
    func requestRefused(_ reason: UInt8) throws {
        var tester = PairingTester(.central, authReq: 0x00)
        tester.give(.begin)
        let request = try tester.take(0x01)
        #expect(request[2] == 0 && request[3] & 0xC0 == 0)
        tester.send([0x05, reason])
        #expect(tester.inbox.isEmpty && !tester.device.pairing.isUnderWay)
        #expect(tester.device.error == .peer(PairingFailure(rawValue: reason)))
    }

    @Test(
        "SM/CEN/JW/BI-01, SM/PER/JW/BI-02: a wrong confirm value ends Just Works with Confirm Value Failed",
        arguments: LinkRole.allCases)
    func wrongConfirmValue(_ role: LinkRole) throws {
        var tester = PairingTester(role, authReq: 0x01)
        tester.sendsWrongConfirmValues = true
        try tester.exchangeFeatures()
        try tester.authenticate()
        Self.expectRefusal(tester, 0x04)
        #expect(tester.deviceKey == nil)
    }

    @Test(
        "SM/CEN/JW/BI-06, SM/CEN/PKE/BI-03: a reflected confirm value ends pairing with Confirm Value Failed",
        arguments: [
            (.noInputNoOutput, 0x00), (.displayOnly, 0x04), (.displayYesNo, 0x04), (.keyboardOnly, 0x04),
            (.keyboardDisplay, 0x04),
        ] as [(IOCapability, UInt8)])
    func reflectedConfirmValue(_ ioCapability: IOCapability, _ authReq: UInt8) throws {
        let usesPasskey = authReq == 0x04
        var tester = PairingTester(
            .central, PairingParameters(ioCapability: ioCapability, isBonding: false),
            ioCapability: usesPasskey ? .keyboardOnly : .noInputNoOutput, authReq: authReq)
        if ioCapability == .keyboardOnly { tester.passkey = 271_828 }
        try tester.exchangeFeatures()
        #expect((tester.device.shownPasskey != nil || tester.wasAskedForPasskey) == usesPasskey)
        tester.send(try tester.take(0x03))
        Self.expectRefusal(tester, 0x04)
        // Without the random value first.
        #expect(tester.inbox == [[0x05, 0x04]] && tester.deviceKey == nil)
    }

    // MARK: Passkey entry

    @Test(
        "SM/CEN/PKE/BV-01, SM/PER/PKE/BV-02: passkey entry encrypts the link, whichever device displays the passkey",
        arguments: LinkRole.allCases, [IOCapability.displayOnly, .displayYesNo, .keyboardOnly, .keyboardDisplay])
    func passkeyEntry(_ role: LinkRole, _ ioCapability: IOCapability) throws {
        var tester = PairingTester(
            role, PairingParameters(ioCapability: ioCapability),
            ioCapability: role == .central ? .keyboardOnly : .keyboardDisplay, authReq: 0x04)
        if ioCapability == .keyboardOnly || (role == .peripheral && ioCapability == .keyboardDisplay) {
            tester.passkey = 271_828
        }
        try tester.pair()
        #expect(
            tester.device.result?.strength
                == KeyStrength(model: .passkeyEntry, usesSecureConnections: false, keySize: 16))
    }

    @Test(
        "SM/CEN/PKE/BV-04, SM/PER/PKE/BV-05: a peer without input and output gets Just Works, unless MITM protection is required",
        arguments: LinkRole.allCases, [IOCapability.displayOnly, .displayYesNo, .keyboardOnly, .keyboardDisplay])
    func unauthenticated(_ role: LinkRole, _ ioCapability: IOCapability) throws {
        var tester = PairingTester(role, PairingParameters(ioCapability: ioCapability), authReq: 0x00)
        try tester.pair()
        #expect(tester.deviceFeatures[0...1] == [ioCapability.rawValue, 0] && tester.deviceFeatures[2] & 0xC0 == 0)
        #expect(
            tester.device.result?.strength
                == KeyStrength(model: .justWorks, usesSecureConnections: false, keySize: 16))
        var strict = PairingTester(
            role, PairingParameters(ioCapability: ioCapability, requiresAuthentication: true), authReq: 0x00)
        #expect(throws: PairingTester.Stopped.self) { try strict.pair() }
        Self.expectRefusal(strict, 0x03)
    }

    @Test(
        "SM/CEN/PKE/BI-01, SM/PER/PKE/BI-03: a peer that continues with another passkey gets Pairing Failed",
        arguments: LinkRole.allCases, [IOCapability.displayOnly, .keyboardOnly])
    func otherPasskey(_ role: LinkRole, _ ioCapability: IOCapability) throws {
        var tester = PairingTester(
            role, PairingParameters(ioCapability: ioCapability), ioCapability: .keyboardOnly, authReq: 0x04)
        tester.device.entersInstead = 111_111
        try tester.exchangeFeatures()
        tester.passkey = (tester.device.shownPasskey ?? 111_111) ^ 1
        try tester.authenticate()
        Self.expectRefusal(tester, 0x04)
        #expect(tester.deviceKey == nil)
    }

    @Test("SM/CEN/PKE/BI-02: a responder that cancels passkey entry ends the pairing, and the reason is reported")
    func interrupted() throws {
        var tester = PairingTester(
            .central, PairingParameters(ioCapability: .displayOnly), ioCapability: .keyboardOnly, authReq: 0x04)
        try tester.exchangeFeatures()
        #expect(tester.device.shownPasskey != nil)
        let count = tester.received.count
        tester.send([0x05, 0x01])
        #expect(tester.received.count == count)
        #expect(tester.device.error == .peer(.passkeyEntryFailed))
        #expect(!tester.device.pairing.isUnderWay)
    }

    @Test(
        "SM/CEN/PKE/BV-05, SM/CEN/SCPK/BV-05: an initiator uses a new passkey on each new link",
        arguments: [false, true])
    func newPasskeys(_ secure: Bool) throws {
        var tester = PairingTester(
            .central, PairingParameters(ioCapability: .displayOnly, isBonding: false), ioCapability: .keyboardOnly,
            authReq: secure ? 0x0C : 0x04)
        var passkeys: Set<UInt32> = []
        for _ in 0..<8 {
            tester.reconnect()
            try tester.pair()
            #expect(tester.device.result?.strength.model == .passkeyEntry)
            passkeys.insert(try #require(tester.device.shownPasskey))
        }
        #expect(passkeys.count == 8 && passkeys.allSatisfy { $0 <= 999_999 })
    }

    // MARK: Out of band

    struct OutOfBandCase: CustomTestStringConvertible {
        var codes: String
        /// Whether the device and the peer have the data.
        var device: Bool, peer: Bool
        /// Whether the peer needs protection against machines in the middle, and has a keyboard for it.
        var isAuthenticated: Bool
        var model: AssociationModel
        var testDescription: String { codes }
    }

    static let outOfBandCases = [
        OutOfBandCase(
            codes: "SM/CEN/OOB/BV-01, SM/PER/OOB/BV-02: both have the data", device: true, peer: true,
            isAuthenticated: true, model: .outOfBand),
        OutOfBandCase(
            codes: "SM/CEN/OOB/BV-03, SM/PER/OOB/BV-04: only the device has it, and a passkey is entered", device: true,
            peer: false, isAuthenticated: true, model: .passkeyEntry),
        OutOfBandCase(
            codes: "SM/CEN/OOB/BV-05, SM/PER/OOB/BV-06: only the peer has it, and a passkey is entered", device: false,
            peer: true, isAuthenticated: true, model: .passkeyEntry),
        OutOfBandCase(
            codes: "SM/CEN/OOB/BV-07, SM/PER/OOB/BV-08: only the peer has it, and Just Works is left", device: false,
            peer: true, isAuthenticated: false, model: .justWorks),
        OutOfBandCase(
            codes: "SM/CEN/OOB/BV-09, SM/PER/OOB/BV-10: only the device has it, and Just Works is left", device: true,
            peer: false, isAuthenticated: false, model: .justWorks),
    ]

    @Test(
        "SM/CEN/OOB/BV-01 to BV-09, SM/PER/OOB/BV-02 to BV-10: out of band is used only if both sides have data",
        arguments: LinkRole.allCases, outOfBandCases)
    func outOfBand(_ role: LinkRole, _ row: OutOfBandCase) throws {
        let data: UInt128 = 0x0F1E_2D3C_4B5A_6978
        var tester = PairingTester(
            role,
            PairingParameters(
                ioCapability: .displayOnly, requiresAuthentication: row.isAuthenticated,
                peerOutOfBandData: row.device ? .temporaryKey(data) : nil),
            ioCapability: !row.isAuthenticated
                ? .noInputNoOutput : role == .central ? .keyboardOnly : .keyboardDisplay,
            hasOutOfBandData: row.peer, authReq: row.isAuthenticated ? 0x04 : 0x00)
        tester.temporaryKey = row.peer ? data : nil
        try tester.pair()
        #expect(tester.deviceFeatures[1] == (row.device ? 1 : 0))
        #expect(tester.deviceFeatures[2] & 0x04 == (row.isAuthenticated ? 0x04 : 0))
        #expect((tester.device.shownPasskey != nil) == (row.model == .passkeyEntry))
        #expect(
            tester.device.result?.strength
                == KeyStrength(model: row.model, usesSecureConnections: false, keySize: 16))
    }

    @Test(
        "SM/CEN/OOB/BI-01, SM/PER/OOB/BI-02: different data on the two sides ends pairing with Confirm Value Failed",
        arguments: LinkRole.allCases)
    func differentData(_ role: LinkRole) throws {
        var tester = PairingTester(
            role, PairingParameters(requiresAuthentication: true, peerOutOfBandData: .temporaryKey(1)),
            hasOutOfBandData: true, authReq: 0x04)
        tester.temporaryKey = 2
        try tester.exchangeFeatures()
        #expect(tester.deviceFeatures[1] == 1 && tester.deviceFeatures[2] & 0x04 == 0x04)
        try tester.authenticate()
        Self.expectRefusal(tester, 0x04)
        #expect(tester.deviceKey == nil)
    }
}
