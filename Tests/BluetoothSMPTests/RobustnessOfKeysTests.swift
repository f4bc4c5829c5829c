import BluetoothBase
import BluetoothSMP
import Testing

/// What hostile and broken peers send, second part: strength, keys, roles. Every row has its number in the list of what
/// a stack must withstand.
struct RobustnessOfKeysTests {
    @Test(arguments: LinkRole.allCases)
    func `S12: pairing again with weaker security is rejected`(_ role: LinkRole) {
        let strong = KeyStrength(model: .numericComparison, usesSecureConnections: true, keySize: 16)
        let rows: [(KeyStrength, secure: Bool, size: UInt8, reason: UInt8?)] = [
            (strong, true, 16, 0x03),
            (KeyStrength(model: .justWorks, usesSecureConnections: true, keySize: 16), false, 16, 0x03),
            (KeyStrength(model: .justWorks, usesSecureConnections: false, keySize: 16), true, 12, 0x06),
            (KeyStrength(model: .justWorks, usesSecureConnections: true, keySize: 12), true, 12, nil),
        ]
        for (minimum, secure, size, reason) in rows {
            var couple = PairingCouple(
                policy: SecurityPolicy(offersSecureConnections: secure, minimumKeySize: 7, maximumKeySize: size))
            couple[role].parameters.minimumStrength = minimum
            couple.pair()
            guard let reason else {
                couple.expectEqualKeys(model: .justWorks, secure: secure, keySize: size)
                continue
            }
            #expect(couple[role].error == .local(PairingFailure(rawValue: reason)))
            // Refused before anything but features was sent.
            #expect(couple.sent.last?.octets == [0x05, reason])
            #expect(couple.sent.count <= 3)
        }
    }

    /// A couple whose central, or peripheral, gets something else instead of a PDU of the distribution.
    func outcome(_ victim: LinkRole, of code: UInt8, becomes octets: [[UInt8]], secure: Bool = true) -> PairingCouple {
        var couple = PairingCouple(policy: SecurityPolicy(offersSecureConnections: secure))
        couple.tamper = { from, pdu in from != victim && pdu[0] == code ? octets : [pdu] }
        couple.pair()
        return couple
    }

    @Test(arguments: LinkRole.allCases)
    func `S13: invalid identities are rejected with Invalid Parameters`(_ victim: LinkRole) {
        let key = [0x08] + [UInt8](repeating: 0x5A, count: 16)
        let rows: [(code: UInt8, octets: [[UInt8]])] = [
            // Two resolving keys.
            (0x08, [key, key]),
            // Addresses of types that do not exist here, private ones, one of a reserved kind.
            (0x09, [[0x09, 0x02, 1, 2, 3, 4, 5, 0xC6]]), (0x09, [[0x09, 0x03, 1, 2, 3, 4, 5, 0xC6]]),
            (0x09, [[0x09, 0xFF, 1, 2, 3, 4, 5, 0xC6]]), (0x09, [[0x09, 0x01, 1, 2, 3, 4, 5, 0x46]]),
            (0x09, [[0x09, 0x01, 1, 2, 3, 4, 5, 0x06]]), (0x09, [[0x09, 0x01, 1, 2, 3, 4, 5, 0x86]]),
            // A second resolving key after the address.
            (0x0A, [key]),
        ]
        for row in rows {
            let couple = outcome(victim, of: row.code, becomes: row.octets)
            #expect(couple[victim].error == .local(.invalidParameters))
            #expect(couple.sent.contains { $0.from == victim && $0.octets == [0x05, 0x0A] })
        }
        let good = outcome(victim, of: 0x09, becomes: [[0x09, 0x01, 1, 2, 3, 4, 5, 0xC6]])
        #expect(good[victim].result?.peerIdentity?.address == DeviceAddress(0xC605_0403_0201, kind: .random))
    }

    @Test(arguments: LinkRole.allCases)
    func `S14: keys that were not negotiated end the pairing`(_ victim: LinkRole) {
        // LTK and EDIV are not distributed with LE Secure Connections.
        for octets in [[0x06] + [UInt8](repeating: 1, count: 16), [0x07] + [UInt8](repeating: 1, count: 10)] {
            let couple = outcome(victim, of: 0x08, becomes: [octets])
            #expect(couple[victim].error == .local(.unspecifiedReason))
        }
        for code: UInt8 in [0x08, 0x0A] {
            var couple = PairingCouple()
            let wanted: KeyDistribution = code == 0x08 ? [.signing] : [.identity]
            couple[victim].resources.policy.wantedKeys = wanted
            couple.tamper = { from, pdu in
                from != victim && pdu[0] == (code == 0x08 ? 0x0A : 0x08)
                    ? [[code] + [UInt8](repeating: 1, count: 16)] : [pdu]
            }
            couple.pair()
            #expect(couple[victim].error == .local(.unspecifiedReason))
        }
    }

    @Test(arguments: LinkRole.allCases, [false, true])
    func `S14: keys on an unencrypted link are rejected`(_ victim: LinkRole, _ secure: Bool) {
        var couple = PairingCouple(policy: SecurityPolicy(offersSecureConnections: secure))
        couple.pair()
        let inputs = couple.inputs[victim] ?? []
        guard let end = inputs.firstIndex(of: .encryption(status: 0)) else { return }
        for count in 0..<end {
            for code: UInt8 in 0x06...0x0A {
                var side = PairingSide(victim, policy: SecurityPolicy(offersSecureConnections: secure))
                for input in inputs[..<count] { side.sends(after: input) }
                let length = [0x07: 10, 0x09: 7][code] ?? 16
                let sent = side.sends(after: .pdu([code] + [UInt8](repeating: 1, count: length)))
                #expect(sent == [[0x05, 0x08]])
                #expect(side.result == nil)
                // The rest does not help.
                for input in inputs[count...] { side.sends(after: input) }
                #expect(side.result == nil || count <= 1)
            }
        }
    }

    @Test("A resolving key of zero means that the device has no private addresses", arguments: LinkRole.allCases)
    func zeroKey(_ victim: LinkRole) {
        let zero = [0x08] + [UInt8](repeating: 0, count: 16)
        let couple = outcome(victim, of: 0x08, becomes: [zero])
        let peer = victim == .central ? PairingSide.peripheralAddress : PairingSide.centralAddress
        #expect(couple[victim].result?.peerIdentity == DeviceIdentity(address: peer, resolvingKey: 0))
        // It cannot be anybody else.
        var liar = PairingCouple()
        liar.tamper = { from, pdu in
            guard from != victim else { return [pdu] }
            return pdu[0] == 0x08 ? [zero] : pdu[0] == 0x09 ? [[0x09, 0x01, 1, 2, 3, 4, 5, 0xC6]] : [pdu]
        }
        liar.pair()
        #expect(liar[victim].result != nil && liar[victim].result?.peerIdentity == nil)
    }

    @Test(arguments: LinkRole.allCases)
    func `S14: pairing fails if keys do not arrive within 30 seconds`(_ victim: LinkRole) {
        for code: UInt8 in [0x08, 0x09, 0x0A] {
            var couple = outcome(victim, of: code, becomes: [])
            if code == 0x0A { #expect(couple[victim].outcome == nil) }
            couple.expire()
            #expect(couple[victim].result == nil)
        }
    }

    @Test(arguments: LinkRole.allCases)
    func `Keys that arrive just before encryption is reported are kept, but no more than negotiated`(
        _ victim: LinkRole
    ) {
        var couple = PairingCouple(policy: SecurityPolicy(offersSecureConnections: false))
        // So that the initiator's keys can come early as well.
        if victim == .peripheral { couple.central.resources.policy.wantedKeys = [] }
        couple.pair()
        var inputs = couple.inputs[victim] ?? []
        guard let index = inputs.firstIndex(of: .encryption(status: 0)) else { return }
        let word = inputs.remove(at: index)
        let policy = couple[victim].resources.policy
        var side = PairingSide(victim, policy: policy)
        for input in inputs { side.sends(after: input) }
        var flooded = side
        #expect(side.outcome == nil)
        side.sends(after: word)
        #expect(side.result == couple[victim].result)
        #expect(side.result?.peerIdentity != nil)
        #expect(flooded.sends(after: .pdu([0x0A] + [UInt8](repeating: 1, count: 16))) == [[0x05, 0x08]])
        #expect(flooded.error == .local(.unspecifiedReason))
    }

    @Test func `S15: failed attempts back off, longer each time, up to 64 seconds`() {
        var couple = PairingCouple(
            PairingParameters(ioCapability: .keyboardOnly, requiresAuthentication: true))
        couple.central.entersInstead = 1
        couple.peripheral.entersInstead = 2
        couple.attempt()
        for wait: Int64 in [1, 2, 4, 8, 16, 32, 64, 64] {
            couple.fire()
            #expect(couple.peripheral.error == .local(.confirmValueFailed))
            let failure = couple.now, count = couple.sent.count
            // A moment before, the peripheral refuses.
            couple.now = failure.advanced(by: .seconds(wait) - .nanoseconds(1))
            couple.attempt()
            let octets = RobustnessTests.request
            #expect(couple.peripheral.sends(after: .pdu(octets), at: couple.now) == [[0x05, 0x09]])
            #expect(couple.peripheral.error == .local(.repeatedAttempts) && couple.peripheral.questions.isEmpty)
            // A pairing that the central begins waits, a little longer than the peer has to.
            #expect(couple.central.outcome == nil && couple.sent.count == count)
            #expect(couple.central.pairing.nextDeadline == failure.advanced(by: .seconds(wait) + .milliseconds(500)))
            couple.peripheral.outcome = nil
            couple.now = failure.advanced(by: .seconds(wait) + .milliseconds(500))
        }
        // Who does better is forgiven.
        couple.peripheral.entersInstead = 1
        couple.fire()
        couple.expectEqualKeys(model: .passkeyEntry, secure: true)
        couple.peripheral.entersInstead = 2
        couple.attempt()
        couple.now = couple.now.advanced(by: .milliseconds(1500))
        couple.attempt()
        #expect(couple.peripheral.error == .local(.confirmValueFailed))
        // And so is who waits long enough.
        couple.now = couple.now.advanced(by: .seconds(602))
        couple.attempt()
        couple.now = couple.now.advanced(by: .milliseconds(1500))
        couple.attempt()
        #expect(couple.peripheral.error == .local(.confirmValueFailed))
    }

    @Test func `S16: wrong-role requests and altered reserved bits are rejected (SM CEN JW BI-04, PER JW BI-03)`() {
        var central = PairingSide(.central)
        #expect(central.sends(after: .pdu(RobustnessTests.request)) == [[0x05, 0x07]])
        #expect(central.questions.isEmpty && central.outcome == nil)
        central.sends(after: .begin)
        #expect(central.sends(after: .pdu(RobustnessTests.request)) == [[0x05, 0x07]])
        #expect(central.error == .local(.commandNotSupported))
        var peripheral = PairingSide(.peripheral)
        #expect(peripheral.sends(after: .pdu([0x0B, 0x01])) == [[0x05, 0x07]])
        peripheral.sends(after: .pdu(RobustnessTests.request))
        #expect(peripheral.sends(after: .pdu([0x0B, 0x01])) == [[0x05, 0x07]])
        #expect(peripheral.error == .local(.commandNotSupported))
        // The check values cover reserved bits as they were sent, so that both devices must have seen the same ones.
        for secure in [false, true] {
            var couple = PairingCouple(policy: SecurityPolicy(offersSecureConnections: secure))
            couple.tamper = { _, pdu in
                var pdu = pdu
                if pdu[0] == 0x01 { pdu[3] |= 0xC0 }
                return [pdu]
            }
            couple.pair()
            #expect(couple.sent.contains { $0.octets[0] == 0x02 })
            #expect(couple.central.result == nil && couple.peripheral.result == nil)
        }
    }

    @Test(arguments: LinkRole.allCases)
    func `S17: Secure Connections Only Mode rejects legacy pairing`(_ role: LinkRole) {
        var couple = PairingCouple()
        couple[role].resources.policy.requiresSecureConnections = true
        couple[role == .central ? .peripheral : .central].resources.policy.offersSecureConnections = false
        couple.pair()
        #expect(couple[role].error == .local(.authenticationRequirements))
        #expect(couple.sent.last?.octets == [0x05, 0x03])
        #expect(couple.sent.count == (role == .central ? 3 : 2))
    }

    @Test(arguments: LinkRole.allCases, [false, true])
    func `Altering pairing features that the check values cover makes the pairing fail`(
        _ from: LinkRole, _ secure: Bool
    ) {
        // Each bit of Pairing Request and Pairing Response that can change unnoticed before the check.
        for bit in 8..<56 {
            var couple = PairingCouple(
                PairingParameters(ioCapability: .displayYesNo),
                policy: SecurityPolicy(offersSecureConnections: secure, minimumKeySize: 7))
            couple.tamper = { sender, pdu in
                var pdu = pdu
                if sender == from, pdu[0] <= 0x02 { pdu[bit / 8] ^= 1 << UInt8(bit % 8) }
                return [pdu]
            }
            couple.pair()
            couple.expire()
            // f6 does not cover key size and key distribution (Core 5.4, Vol 3, Part H, 2.2.8): LE Secure Connections
            // notices the first by a key that does not fit, the second by keys that come or stay away.
            if secure, bit >= 40 { continue }
            #expect(couple.central.result == nil && couple.peripheral.result == nil, "bit \(bit)")
        }
    }
}
