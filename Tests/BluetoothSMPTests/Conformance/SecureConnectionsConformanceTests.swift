import BluetoothBase
import BluetoothSMP
import Testing

/// LE Secure Connections as the Security Manager test suite asks for it: SM/…/SCJW, SCPK and SCOB.
@Suite("SM conformance: LE Secure Connections")
struct SecureConnectionsConformanceTests {
    enum Model: String, CaseIterable {
        case justWorks, passkeyEntry, outOfBand

        var association: AssociationModel {
            switch self {
            case .justWorks: .justWorks
            case .passkeyEntry: .passkeyEntry
            case .outOfBand: .outOfBand
            }
        }
    }

    static let random: UInt128 = 0x1234_5678_9ABC_DEF0

    /// The data that a tester handed out.
    static func data() throws -> OutOfBandData {
        let x = try #require(PairingTester.keyPair).publicKey.x
        return .secureConnections(confirm: PairingTester.crypto.f4(x, x, random, 0), random: random)
    }

    /// A peer for a pairing of this model, and a device that is ready for it.
    ///
    /// - Parameter has: whether the device has the peer's out-of-band data, and the peer the device's.
    static func tester(
        _ model: Model, _ role: LinkRole, authReq: UInt8 = 0x08, has: (device: Bool, peer: Bool) = (true, true)
    ) throws -> PairingTester {
        switch model {
        case .justWorks: return PairingTester(role, PairingParameters(isBonding: false), authReq: authReq)
        case .passkeyEntry:
            return PairingTester(
                role, PairingParameters(ioCapability: .displayOnly, isBonding: false), ioCapability: .keyboardOnly,
                authReq: authReq | 0x04)
        case .outOfBand:
            var tester = PairingTester(
                role,
                PairingParameters(
                    isBonding: false, peerOutOfBandData: has.device ? try data() : nil, hasSentOutOfBandData: has.peer),
                hasOutOfBandData: has.peer, authReq: authReq)
            if has.device { tester.outOfBand.own = random }
            if has.peer, case .secureConnections(_, let value)? = tester.device.resources.makeOutOfBandData() {
                tester.outOfBand.device = value
            }
            return tester
        }
    }

    static func expectPaired(
        _ tester: PairingTester, _ model: AssociationModel, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(
            tester.device.result?.strength == KeyStrength(model: model, usesSecureConnections: true, keySize: 16),
            sourceLocation: sourceLocation)
    }

    // MARK: Success

    @Test(
        """
        SM/CEN/SCJW/BV-01, SM/PER/SCJW/BV-02: Just Works and numeric comparison succeed with every capability that allows \
        them, with a new nonce each time
        """, arguments: LinkRole.allCases, IOCapability.allCases)
    func numbers(_ role: LinkRole, _ ioCapability: IOCapability) throws {
        let comparing: Set<IOCapability> = [.displayYesNo, .keyboardDisplay]
        for (peer, compares) in IOCapability.allCases.flatMap({ [($0, false), ($0, true)] })
        where !compares || comparing.isSuperset(of: [ioCapability, peer]) {
            var tester = PairingTester(
                role,
                PairingParameters(ioCapability: ioCapability, isBonding: false, requiresAuthentication: compares),
                ioCapability: peer, authReq: 0x08)
            for _ in 0..<3 {
                tester.reconnect()
                try tester.pair()
                #expect(tester.deviceFeatures[0...2] == [ioCapability.rawValue, 0, compares ? 0x0C : 0x08])
                Self.expectPaired(tester, compares ? .numericComparison : .justWorks)
                #expect(tester.comparedNumber != nil)
                #expect(tester.device.comparedNumber == (compares ? tester.comparedNumber : nil))
            }
            #expect(Set(tester.received.filter { $0[0] == 0x04 }).count == 3)
        }
    }

    @Test(
        "SM/CEN/SCPK/BV-01: passkey entry succeeds, with and without keypress notifications from the peer",
        arguments: LinkRole.allCases, [false, true])
    func passkeyEntry(_ role: LinkRole, _ sendsKeypresses: Bool) throws {
        var tester = PairingTester(
            role,
            PairingParameters(ioCapability: .displayOnly, isBonding: false, sendsKeypresses: true),
            ioCapability: .keyboardOnly, authReq: sendsKeypresses ? 0x1C : 0x0C)
        try tester.exchangeFeatures()
        #expect(tester.deviceFeatures[0...2] == [0, 0, 0x18])
        try tester.exchangePublicKeys()
        #expect(tester.device.shownPasskey != nil)
        if sendsKeypresses {
            for key in KeypressNotification.allCases { tester.send(.pairingKeypressNotification(key)) }
            #expect(tester.device.keypresses == KeypressNotification.allCases)
        }
        try tester.authenticateWithPublicKeys()
        try tester.encrypt()
        Self.expectPaired(tester, .passkeyEntry)
        #expect(!tester.received.contains { $0[0] == 0x0E })
    }

    @Test(
        "SM/PER/SCPK/BV-02: the device enters the peer's passkey, and sends keypresses only if the peer supports them",
        arguments: LinkRole.allCases, [false, true])
    func passkeyOfPeer(_ role: LinkRole, _ wantsKeypresses: Bool) throws {
        var tester = PairingTester(
            role, PairingParameters(ioCapability: .keyboardOnly, isBonding: false, sendsKeypresses: true),
            ioCapability: .keyboardDisplay, authReq: wantsKeypresses ? 0x1C : 0x0C)
        tester.passkey = 314_159
        tester.keypresses = KeypressNotification.allCases
        try tester.pair()
        #expect(tester.deviceFeatures[0...2] == [2, 0, 0x18])
        #expect(tester.wasAskedForPasskey)
        Self.expectPaired(tester, .passkeyEntry)
        #expect(
            tester.received.filter { $0[0] == 0x0E }
                == (wantsKeypresses ? KeypressNotification.allCases.map { [0x0E, $0.rawValue] } : []))
    }

    @Test(
        "SM/CEN/SCOB/BV-01, SM/PER/SCOB/BV-02: out of band succeeds with data on both sides or either side",
        arguments: LinkRole.allCases, [(true, true), (true, false), (false, true)])
    func outOfBand(_ role: LinkRole, _ has: (device: Bool, peer: Bool)) throws {
        var tester = try Self.tester(.outOfBand, role, has: has)
        try tester.pair()
        #expect(tester.deviceFeatures[1] == (has.device ? 1 : 0))
        Self.expectPaired(tester, .outOfBand)
    }

    @Test(
        """
        SM/PER/SCJW/BV-03, SM/CEN/SCJW/BV-04, SM/PER/SCPK/BV-03, SM/CEN/SCPK/BV-04, SM/PER/SCOB/BV-03, SM/CEN/SCOB/BV-04: \
        reserved bits of the peer's AuthReq change nothing, and the device sends none
        """, arguments: Model.allCases, LinkRole.allCases)
    func reservedBits(_ model: Model, _ role: LinkRole) throws {
        for bits in [0x40, 0x80, 0xC0] as [UInt8] {
            var tester = try Self.tester(model, role, authReq: 0x08 | bits)
            try tester.pair()
            #expect(tester.deviceFeatures[1] == (model == .outOfBand ? 1 : 0))
            #expect(tester.deviceFeatures[2] & 0xC8 == 0x08)
            Self.expectPaired(tester, model.association)
        }
    }

    // MARK: Failure

    @Test(
        """
        SM/CEN/SCJW/BI-01, SM/CEN/SCPK/BI-01, SM/CEN/SCOB/BI-01: Pairing Failed, instead of a response or later, ends \
        the initiator's pairing, and the reason is reported
        """, arguments: Model.allCases)
    func initiatorFailed(_ model: Model) throws {
        for reason in [0x03, 0x08, 0x05, 0x09] as [UInt8] {
            var tester = try Self.tester(model, .central)
            tester.give(.begin)
            let request = try tester.take(0x01)
            #expect(request[2] == (model == .outOfBand ? 1 : 0) && request[3] & 0xC8 == 0x08)
            tester.send([0x05, reason])
            #expect(tester.inbox.isEmpty && !tester.device.pairing.isUnderWay)
            #expect(tester.device.error == .peer(PairingFailure(rawValue: reason)))
        }
        try expectFailure(model, .central)
    }

    @Test(
        """
        SM/PER/SCPK/BI-04, SM/PER/SCOB/BI-02: Pairing Failed, after the response or later, ends the responder's \
        pairing, and the reason is reported
        """, arguments: Model.allCases)
    func responderFailed(_ model: Model) throws {
        for reason in [0x03, 0x08, 0x05, 0x09] as [UInt8] {
            var tester = try Self.tester(model, .peripheral)
            try tester.exchangeFeatures()
            #expect(tester.deviceFeatures[1] == (model == .outOfBand ? 1 : 0))
            #expect(tester.deviceFeatures[2] & 0xC8 == 0x08)
            let count = tester.received.count
            tester.send([0x05, reason])
            #expect(tester.received.count == count && !tester.device.pairing.isUnderWay)
            #expect(tester.device.error == .peer(PairingFailure(rawValue: reason)))
        }
        try expectFailure(model, .peripheral)
    }

    /// Pairing Failed in phase 2, for the reason that goes with the model.
    private func expectFailure(_ model: Model, _ role: LinkRole) throws {
        let reason: UInt8 =
            switch model {
            case .justWorks: 0x0C
            case .passkeyEntry: 0x01
            case .outOfBand: 0x02
            }
        var tester = try Self.tester(model, role)
        try tester.exchangeFeatures()
        try tester.exchangePublicKeys()
        let count = tester.received.count
        tester.send([0x05, reason])
        #expect(tester.received.count == count && !tester.device.pairing.isUnderWay)
        #expect(tester.device.error == .peer(PairingFailure(rawValue: reason)))
    }

    @Test("SM/PER/SCJW/BI-02: a responder ends the pairing if the peer reports Confirm Value Failed")
    func confirmValueRefused() throws {
        var tester = try Self.tester(.justWorks, .peripheral, authReq: 0x09)
        try tester.exchangeFeatures()
        #expect(tester.deviceFeatures[1] == 0 && tester.deviceFeatures[2] & 0xC8 == 0x08)
        try tester.exchangePublicKeys()
        _ = try tester.take(0x03)
        tester.send([0x05, 0x04])
        #expect(tester.inbox.isEmpty)
        #expect(tester.device.error == .peer(.confirmValueFailed))
        #expect(!tester.device.pairing.isUnderWay)
    }

    @Test(
        "SM/CEN/SCPK/BI-02, SM/PER/SCPK/BI-03: a wrong confirm value ends passkey entry with Confirm Value Failed",
        arguments: LinkRole.allCases)
    func wrongConfirmValue(_ role: LinkRole) throws {
        var tester = try Self.tester(.passkeyEntry, role)
        tester.sendsWrongConfirmValues = true
        #expect(throws: PairingTester.Stopped.self) { try tester.pair() }
        LegacyPairingConformanceTests.expectRefusal(tester, 0x04)
        #expect(tester.deviceKey == nil)
    }

    @Test(
        "SM/PER/SCOB/BI-03, SM/CEN/SCOB/BI-04: data from another device ends pairing with Confirm Value Failed",
        arguments: LinkRole.allCases)
    func wrongData(_ role: LinkRole) throws {
        var tester = try Self.tester(.outOfBand, role)
        tester.device.parameters.peerOutOfBandData = .secureConnections(confirm: 0xBAD, random: Self.random)
        try tester.exchangeFeatures()
        try tester.exchangePublicKeys()
        LegacyPairingConformanceTests.expectRefusal(tester, 0x04)
        #expect(tester.deviceKey == nil)
    }
}
