import BluetoothBase
import BluetoothSMP
import Testing

/// What the two devices do besides authenticating each other.
struct ProcedureTests {
    @Test func `Just Works sends its PDUs in order (SM SCJW BV-01, BV-02)`() {
        var couple = PairingCouple()
        couple.pair()
        #expect(couple.sent.map(\.octets[0]) == [1, 2, 0x0C, 0x0C, 3, 4, 4, 0x0D, 0x0D, 8, 9, 0x0A, 8, 9, 0x0A])
        #expect(couple.sent.prefix(2).map(\.octets) == [RobustnessTests.request, RobustnessTests.response])
        #expect(
            couple.sent.suffix(6).map(\.from) == [.peripheral, .peripheral, .peripheral, .central, .central, .central])
    }

    @Test func `Legacy pairing sends its PDUs in order (SM JW BV-01, BV-02, KDU)`() {
        var couple = PairingCouple(policy: SecurityPolicy(offersSecureConnections: false))
        couple.pair()
        #expect(couple.sent.map(\.octets[0]) == [1, 2, 3, 3, 4, 4, 6, 7, 8, 9, 0x0A, 6, 7, 8, 9, 0x0A])
        let key = couple.central.result?.centralKey
        #expect(key?.random != 0 && key?.key != couple.central.result?.peripheralKey?.key)
    }

    @Test(arguments: 0..<64, [false, true])
    func `Only the keys that both want are distributed (SM KDU)`(_ bits: Int, _ secure: Bool) {
        let first = KeyDistribution(rawValue: UInt8(bits & 7)), second = KeyDistribution(rawValue: UInt8(bits >> 3))
        var couple = PairingCouple(policy: SecurityPolicy(offersSecureConnections: secure))
        couple.central.resources.policy.distributedKeys = first
        couple.peripheral.resources.policy.wantedKeys = [.encryption, .identity]
        couple.peripheral.resources.policy.distributedKeys = second
        couple.central.resources.policy.wantedKeys = [.identity, .signing, .link]
        couple.pair()
        func codes(_ keys: KeyDistribution) -> [UInt8] {
            (keys.contains(.encryption) && !secure ? [6, 7] : []) + (keys.contains(.identity) ? [8, 9] : [])
                + (keys.contains(.signing) ? [0x0A] : [])
        }
        let expected =
            codes(second.intersection([.identity, .signing])) + codes(first.intersection([.encryption, .identity]))
        #expect(couple.sent.map(\.octets[0]).filter { (6...0x0A).contains($0) } == expected)
        #expect(couple.central.result?.isBonded == true && couple.peripheral.result?.isBonded == true)
        #expect((couple.central.result?.peerIdentity != nil) == second.contains(.identity))
        #expect((couple.peripheral.result?.centralKey != nil) == (secure || first.contains(.encryption)))
    }

    @Test func `A device without private addresses has no identity to distribute`() {
        var couple = PairingCouple()
        couple.central.resources.identity.resolvingKey = 0
        couple.pair()
        #expect(couple.peripheral.result?.peerIdentity == nil)
        #expect(couple.central.result?.peerIdentity != nil)
    }

    @Test(arguments: [(true, true), (true, false), (false, true), (false, false)])
    func `Keys are distributed and kept only if both devices bond (SM SCJW BV-03, BV-04)`(_ bonds: (Bool, Bool)) {
        for secure in [false, true] {
            var couple = PairingCouple(policy: SecurityPolicy(offersSecureConnections: secure))
            couple.central.parameters.isBonding = bonds.0
            couple.peripheral.parameters.isBonding = bonds.1
            couple.pair()
            couple.expectEqualKeys(model: .justWorks, secure: secure)
            #expect(couple.central.result?.isBonded == (bonds.0 && bonds.1))
            #expect(couple.sent.contains { (6...0x0A).contains($0.octets[0]) } == (bonds.0 && bonds.1))
        }
    }

    @Test func `Keys that the response announces are accepted from a peripheral that does not bond, but not kept`() {
        var couple = PairingCouple()
        couple.peripheral.parameters.isBonding = false
        // f6 does not cover these fields, so the peripheral need not know that its response names all keys.
        couple.tamper = { _, pdu in pdu[0] == 0x02 ? [Array(pdu.prefix(5)) + [0x07, 0x07]] : [pdu] }
        couple.pair()
        #expect(couple.central.outcome == nil, "the keys of the peripheral have not come")
        let key = [UInt8](repeating: 0x5A, count: 16)
        for pdu in [[0x08] + key, [0x09, 0x01, 1, 2, 3, 4, 5, 0xC6], [0x0A] + key] {
            couple.apply(.pdu(pdu), to: .central)
        }
        #expect(couple.central.result?.isBonded == false)
        #expect(couple.central.result?.peerIdentity?.resolvingKey == 0x5A5A_5A5A_5A5A_5A5A_5A5A_5A5A_5A5A_5A5A)
        #expect(!couple.sent.contains { $0.octets[0] == 0x05 }, "no Pairing Failed")
        #expect(couple.sent.suffix(3).map(\.octets[0]) == [0x08, 0x09, 0x0A], "the keys that the response asks for")
    }

    @Test func `A central that does not bond is asked for no keys, and gets none`() {
        var side = PairingSide(.peripheral)
        side.sends(after: .pdu([0x01, 0x03, 0x00, 0x08, 0x10, 0x07, 0x07]))
        #expect(side.sends(after: .answer(.accept())) == [[0x02, 0x03, 0x00, 0x09, 0x10, 0x00, 0x00]])
    }

    @Test func `A Security Request contains only what is required, because a central takes it for that`() {
        var couple = PairingCouple()
        couple.peripheral.parameters.requestsAuthentication = true
        couple.apply(.begin, to: .peripheral)
        couple.run()
        #expect(couple.central.securityRequests == [[.bonding, .secureConnections]])
    }

    @Test func `A peripheral begins with a Security Request, and is still asked for consent (SM PER PIS)`() {
        var couple = PairingCouple()
        couple.apply(.begin, to: .peripheral)
        couple.run()
        #expect(couple.central.securityRequests == [[.bonding, .secureConnections]])
        #expect(couple.peripheral.outcome == nil)
        couple.apply(.begin, to: .central)
        couple.run(isAnswering: false)
        #expect(couple.peripheral.questions.count == 1)
        couple.run()
        couple.expectEqualKeys(model: .justWorks, secure: true)
    }

    @Test func `A Security Request ends with encryption, rejection or cancellation`() {
        var side = PairingSide(.peripheral)
        side.sends(after: .begin)
        side.sends(after: .encryption(status: 6))
        #expect(side.outcome == nil)
        side.sends(after: .encryption(status: 0))
        #expect(side.error == .encryptedWithKnownKey)
        var refused = PairingSide(.peripheral)
        refused.sends(after: .begin)
        #expect(refused.sends(after: .pdu([0x05, 0x05])).isEmpty)
        #expect(refused.error == .peer(.pairingNotSupported))
        var cancelled = PairingSide(.peripheral)
        cancelled.sends(after: .begin)
        #expect(cancelled.pairing.cancel() == [.ended(.failure(.cancelled))])
    }

    @Test func `A peer that starts over while a question is open is refused`() {
        var side = PairingSide(.peripheral)
        side.sends(after: .pdu(RobustnessTests.request))
        #expect(side.sends(after: .pdu(RobustnessTests.request)) == [[0x05, 0x08]])
        #expect(side.error == .local(.unspecifiedReason))
        // The late answer is to nothing.
        #expect(side.sends(after: .answer(.accept())).isEmpty)
    }

    @Test func `An answer to a question that was not asked is ignored`() {
        for answer in [PairingAnswer.accept(), .refuse, .passkey(1), .passkey(1_000_000)] {
            for role in LinkRole.allCases {
                var side = PairingSide(role)
                #expect(side.sends(after: .answer(answer)).isEmpty)
                if role == .central { side.sends(after: .begin) }
                if role == .central { #expect(side.sends(after: .answer(answer)).isEmpty) }
                #expect(side.outcome == nil)
            }
            var asked = PairingSide(.peripheral)
            asked.sends(after: .pdu(RobustnessTests.request))
            if case .passkey = answer { #expect(asked.sends(after: .answer(answer)).isEmpty) }
        }
    }

    @Test(arguments: LinkRole.allCases)
    func `Keypresses are reported to the displaying device, and a flood of them ends the pairing (SM SCPK)`(
        _ enters: LinkRole
    ) {
        var couple = PairingCouple(
            PairingParameters(ioCapability: .displayOnly, requiresAuthentication: true, sendsKeypresses: true))
        couple[enters].parameters.ioCapability = .keyboardOnly
        let shows: LinkRole = enters == .central ? .peripheral : .central
        couple.apply(.begin, to: .central)
        couple.run(isAnswering: false)
        if enters == .peripheral || couple.peripheral.questions == [.enterPasskey] { couple.run(isAnswering: false) }
        if case .consent? = couple.peripheral.questions.first {
            couple.peripheral.questions.removeFirst()
            couple.apply(.answer(.accept(couple.peripheral.parameters)), to: .peripheral)
            couple.run(isAnswering: false)
        }
        #expect(couple[enters].questions == [.enterPasskey])
        for key in KeypressNotification.allCases {
            let effects = couple[enters].pairing.pressKey(key, at: couple.now)
            #expect(effects == [.send(.pairingKeypressNotification(key))])
            couple.carryOut(effects, of: enters)
        }
        couple.run(isAnswering: false)
        #expect(couple[shows].keypresses == KeypressNotification.allCases)
        #expect(couple[shows].pairing.pressKey(.digitEntered, at: couple.now).isEmpty)
        var flooded = couple
        couple.run()
        couple.expectEqualKeys(model: .passkeyEntry, secure: true)
        #expect(couple[enters].pairing.pressKey(.digitEntered, at: couple.now).isEmpty)
        // They hold the time-out off, so there is an end to them.
        for _ in 0..<100 { flooded.apply(.pdu([0x0E, 0x01]), to: shows) }
        #expect(flooded[shows].error == .local(.unspecifiedReason))
    }

    @Test(arguments: LinkRole.allCases)
    func `Failed encryption ends the pairing and leaves no key`(_ role: LinkRole) {
        for (status, isEncrypted) in [(0x06, false), (0x3D, false), (0, false), (0x06, true)] as [(UInt8, Bool)] {
            var couple = PairingCouple()
            couple.pair()
            var side = PairingSide(role)
            for input in couple.inputs[role] ?? [] {
                if case .encryption = input { break }
                side.sends(after: input)
            }
            let effects = side.pairing.encryptionChanged(
                status: status, isEncrypted: isEncrypted, &side.resources, at: .zero)
            #expect(effects.last == .ended(.failure(.encryptionFailed(status: status))))
            #expect(side.pairing.key(encryptedDiversifier: 0, random: 0) == nil)
        }
    }

    @Test func `Out-of-band data is used once`() throws {
        var couple = PairingCouple()
        couple.central.parameters.peerOutOfBandData = couple.peripheral.resources.makeOutOfBandData()
        couple.peripheral.parameters.hasSentOutOfBandData = true
        couple.pair()
        couple.expectEqualKeys(model: .outOfBand, secure: true)
        couple.central.outcome = nil
        couple.peripheral.outcome = nil
        couple.pair()
        #expect(couple.peripheral.error == .local(.outOfBandNotAvailable))
        #expect(couple.sent.last?.octets == [0x05, 0x02])
        #expect(couple.central.error == .peer(.outOfBandNotAvailable))
    }

    @Test func `Out-of-band data that is from another device, or falsely claimed, makes pairing fail`() throws {
        var stranger = PairingSide(.peripheral, seed: 99)
        var couple = PairingCouple()
        couple.central.parameters.peerOutOfBandData = stranger.resources.makeOutOfBandData()
        _ = couple.peripheral.resources.makeOutOfBandData()
        couple.peripheral.parameters.hasSentOutOfBandData = true
        couple.pair()
        #expect(couple.central.error == .local(.confirmValueFailed))

        // One who only says that it has our data does not know the random value.
        var liar = PairingCouple()
        _ = liar.peripheral.resources.makeOutOfBandData()
        liar.peripheral.parameters.hasSentOutOfBandData = true
        liar.tamper = { from, pdu in
            var pdu = pdu
            if from == .central, pdu[0] == 0x01 { pdu[2] = 1 }
            return [pdu]
        }
        liar.pair()
        #expect(liar.central.result == nil && liar.peripheral.result == nil)
    }
}
