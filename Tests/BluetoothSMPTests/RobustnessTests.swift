import BluetoothBase
import BluetoothCrypto
import BluetoothSMP
import Testing

/// What hostile and broken peers send. Every row has its number in the list of what a stack must withstand.
struct RobustnessTests {
    /// A request or response for LE Secure Connections, Just Works, with bonding and all keys.
    static let request: [UInt8] = [0x01, 0x03, 0x00, 0x09, 0x10, 0x07, 0x07]
    static let response: [UInt8] = [0x02, 0x03, 0x00, 0x09, 0x10, 0x07, 0x07]

    /// A device whose peer is about to send its first PDU of pairing.
    func waiting(_ role: LinkRole, policy: SecurityPolicy = SecurityPolicy()) -> PairingSide {
        var side = PairingSide(role, policy: policy)
        if role == .central { side.sends(after: .begin) }
        return side
    }

    /// A device that waits for the peer's public key.
    func exchangingKeys(_ role: LinkRole, policy: SecurityPolicy = SecurityPolicy()) -> PairingSide {
        var side = waiting(role, policy: policy)
        side.sends(after: .pdu(role == .central ? Self.response : Self.request))
        if role == .peripheral { side.sends(after: .answer(.accept())) }
        return side
    }

    @Test(arguments: LinkRole.allCases)
    func `S1: a PDU of the wrong length or with an unknown code is rejected`(_ role: LinkRole) throws {
        for (_, text) in CodingTests.table {
            let octets = try #require([UInt8](hexadecimal: text))
            for wrong in [Array(octets.dropLast()), octets + [0x00]] {
                var idle = PairingSide(role)
                #expect(idle.sends(after: .pdu(wrong)) == [[0x05, 0x0A]])
                #expect(idle.outcome == nil)
                var side = exchangingKeys(role)
                #expect(side.sends(after: .pdu(wrong)) == [[0x05, 0x0A]])
                #expect(side.error == .local(.invalidParameters))
            }
        }
        for code in [0x00] + (UInt8(0x0F)...0xFF) {
            var idle = PairingSide(role)
            #expect(idle.sends(after: .pdu([code])) == [[0x05, 0x07]])
            var side = exchangingKeys(role)
            #expect(side.sends(after: .pdu([code, 0x00])) == [[0x05, 0x07]])
            #expect(side.error == .local(.commandNotSupported))
        }
        var side = exchangingKeys(role)
        #expect(side.sends(after: .pdu([])).isEmpty)
        #expect(side.outcome == nil)
    }

    @Test(arguments: LinkRole.allCases, [(0, 6), (6, 6), (15, 6), (17, 10), (253, 10)] as [(UInt8, UInt8)])
    func `S2: key sizes that are invalid or too short are rejected (SM EKS BI)`(
        _ role: LinkRole, _ row: (size: UInt8, reason: UInt8)
    ) {
        var side = waiting(role)
        var octets = role == .central ? Self.response : Self.request
        octets[4] = row.size
        #expect(side.sends(after: .pdu(octets)) == [[0x05, row.reason]])
        #expect(side.error == .local(PairingFailure(rawValue: row.reason)))
        #expect(side.questions.isEmpty)
    }

    @Test(arguments: LinkRole.allCases, [false, true])
    func `S3: a short key is accepted only if both policies allow it (SM EKS BV)`(_ role: LinkRole, _ secure: Bool) {
        for size in UInt8(7)...16 {
            var couple = PairingCouple(policy: SecurityPolicy(offersSecureConnections: secure))
            couple[role].resources.policy.maximumKeySize = size
            couple[role].resources.policy.minimumKeySize = 7
            couple.pair()
            if size < 16 {
                #expect(couple.sent.last?.octets == [0x05, 0x06])
                #expect(couple.central.result == nil && couple.peripheral.result == nil)
            }
            for side in LinkRole.allCases { couple[side].resources.policy.minimumKeySize = 7 }
            couple = PairingCouple(central: couple.central, peripheral: couple.peripheral)
            couple.central.outcome = nil
            couple.peripheral.outcome = nil
            couple.pair()
            couple.expectEqualKeys(model: .justWorks, secure: secure, keySize: size)
            let key = couple.central.result?.centralKey?.key ?? .max
            #expect(size == 16 || key >> UInt128(8 * size) == 0)
            #expect(key >> UInt128(8 * size - 16) != 0)
        }
    }

    @Test func `S4: only a peripheral provides a key, between the DHKey Check and encryption`() {
        var couple = PairingCouple()
        var keys: [Bool] = []
        #expect(couple.peripheral.pairing.key(encryptedDiversifier: 0, random: 0) == nil)
        couple.pair()
        // The same inputs again, one at a time.
        var side = PairingSide(.peripheral)
        for input in couple.inputs[.peripheral] ?? [] {
            #expect(side.pairing.key(encryptedDiversifier: 1, random: 0) == nil)
            #expect(side.pairing.key(encryptedDiversifier: 0, random: 1) == nil)
            if case .encryption = input {
                #expect(side.pairing.key(encryptedDiversifier: 0, random: 0) == couple.central.result?.centralKey?.key)
            }
            side.sends(after: input)
            keys.append(side.pairing.key(encryptedDiversifier: 0, random: 0) != nil)
        }
        // Only between DHKey Check and the encryption.
        #expect(keys.filter { $0 }.count == 1)
        var central = PairingSide(.central)
        for input in couple.inputs[.central] ?? [] {
            central.sends(after: input)
            #expect(central.pairing.key(encryptedDiversifier: 0, random: 0) == nil)
        }
    }

    @Test(arguments: LinkRole.allCases)
    func `S5: encryption reported before the DHKey Check is ignored`(_ role: LinkRole) {
        var couple = PairingCouple()
        couple.pair()
        let inputs = couple.inputs[role] ?? []
        for count in 0..<inputs.count where !inputs[..<count].contains(.encryption(status: 0)) {
            var side = PairingSide(role)
            for input in inputs[..<count] { side.sends(after: input) }
            if inputs[count] == .encryption(status: 0) { continue }
            #expect(side.sends(after: .encryption(status: 0)).isEmpty)
            #expect(side.outcome == nil)
            #expect(side.pairing.key(encryptedDiversifier: 0, random: 0) == nil)
        }
    }

    @Test(arguments: LinkRole.allCases)
    func `S6: public keys that are zero or not on the curve are rejected (SM KDU BI-01 to BI-04)`(_ role: LinkRole)
        throws
    {
        let zero = FieldElement(high: 0, low: 0)
        let valid = try #require(LibraryToolbox().keyPair(privateKey: FieldElement(high: 1, low: 2))).publicKey
        for key in [
            P256PublicKey(x: zero, y: zero), P256PublicKey(x: valid.y, y: valid.x), P256PublicKey(x: valid.x, y: zero),
        ] {
            var side = exchangingKeys(role)
            #expect(side.sends(after: .pdu(SecurityManagerPDU.pairingPublicKey(key).octets)) == [[0x05, 0x0B]])
            #expect(side.error == .local(.dhKeyCheckFailed))
        }
    }

    @Test func `S6: a public key with our own x-coordinate is rejected, with either y`() throws {
        var side = waiting(.central)
        let sent = side.sends(after: .pdu(Self.response))
        let own = try #require(sent.first)
        for sign in [false, true] {
            var copy = side
            var echo = own
            // The other point with this x has p - y.
            if sign { echo = Self.negated(own) }
            #expect(copy.sends(after: .pdu(echo)) == [[0x05, 0x0B]])
            #expect(copy.error == .local(.dhKeyCheckFailed))
        }
        // The next pairing has another key.
        side.sends(after: .pdu([0x05, 0x08]))
        side.sends(after: .begin)
        #expect(side.sends(after: .pdu(Self.response)).first != own)
    }

    /// The public key PDU with p - y instead of y.
    static func negated(_ pdu: [UInt8]) -> [UInt8] {
        let p: [UInt8] = Array("ffffffff00000001000000000000000000000000ffffffffffffffffffffffff".utf8).reversed()
            .chunked()
        var borrow = 0
        var result = pdu
        for index in 0..<32 {
            var difference = Int(p[index]) - Int(pdu[33 + index]) - borrow
            borrow = difference < 0 ? 1 : 0
            if difference < 0 { difference += 256 }
            result[33 + index] = UInt8(difference)
        }
        return result
    }

    @Test func `S7: a reflected confirm value is rejected (SM CEN JW BI-06, PKE BI-03)`() throws {
        for io in [IOCapability.noInputNoOutput, .displayOnly] {
            var side = PairingSide(.central, parameters: PairingParameters(ioCapability: io))
            side.sends(after: .begin)
            let response: [UInt8] = [0x02, 0x02, 0x00, io == .displayOnly ? 0x05 : 0x01, 0x10, 0x00, 0x00]
            let confirm = try #require(side.sends(after: .pdu(response)).first)
            #expect(confirm.count == 17 && confirm[0] == 0x03)
            #expect(side.sends(after: .pdu(confirm)) == [[0x05, 0x04]])
            #expect(side.error == .local(.confirmValueFailed))
        }
    }

    @Test(arguments: LinkRole.allCases)
    func `S8: the debug key is rejected unless the policy uses debug keys`(_ role: LinkRole) {
        let debug = SecurityManagerPDU.pairingPublicKey(P256KeyPair.debug.publicKey).octets
        for pdu in [debug, Self.negated(debug)] {
            var side = exchangingKeys(role)
            #expect(side.sends(after: .pdu(pdu)) == [[0x05, 0x0A]])
            #expect(side.error == .local(.invalidParameters))
        }
        var couple = PairingCouple(policy: SecurityPolicy(usesDebugKeys: true))
        couple.pair()
        couple.expectEqualKeys(model: .justWorks, secure: true)
        #expect(couple.sent.filter { $0.octets == debug }.count == 2)
    }

    @Test(arguments: [false, true], [IOCapability.keyboardOnly, .displayOnly])
    func `S9: a wrong passkey fails (SM PKE, SCPK)`(_ secure: Bool, _ io: IOCapability) {
        let bits: [UInt32] = secure ? (0..<20).map { 1 << $0 } : [1, 1 << 19]
        for bit in bits {
            var couple = PairingCouple(
                PairingParameters(ioCapability: .keyboardOnly, requiresAuthentication: true),
                policy: SecurityPolicy(offersSecureConnections: secure))
            couple.peripheral.parameters.ioCapability = io
            couple.central.entersInstead = 0
            couple.peripheral.entersInstead = bit > 999_999 ? 0 : bit
            if io == .displayOnly { couple.central.entersInstead = bit }
            couple.pair()
            #expect(couple.central.result == nil && couple.peripheral.result == nil)
            #expect(couple.sent.last?.octets == [0x05, 0x04])
            #expect(!couple.isEncrypted)
            guard secure, io == .keyboardOnly else { continue }
            // It fails in the round of the first bit that differs, so nothing is known of those after it.
            #expect(
                couple.sent.filter { $0.octets[0] == 0x03 && $0.from == .central }.count == bit.trailingZeroBitCount + 1
            )
        }
    }

    @Test func `S9: passkeys are fresh, and have six digits`() {
        var passkeys: Set<UInt32> = []
        var couple = PairingCouple(PairingParameters(ioCapability: .keyboardDisplay, requiresAuthentication: true))
        couple.peripheral.parameters.ioCapability = .displayOnly
        for _ in 0..<20 {
            couple.pair()
            if let passkey = couple.peripheral.shownPasskey { passkeys.insert(passkey) }
        }
        #expect(passkeys.count == 20)
        #expect(passkeys.allSatisfy { $0 <= 999_999 })
        for secure in [false, true] {
            for role in LinkRole.allCases {
                var couple = PairingCouple(
                    PairingParameters(ioCapability: .keyboardOnly, requiresAuthentication: true),
                    policy: SecurityPolicy(offersSecureConnections: secure))
                couple[role].entersInstead = 1_000_000
                couple.pair()
                #expect(couple[role].error == .local(.passkeyEntryFailed))
                #expect(couple.sent.last?.octets == [0x05, 0x01])
            }
        }
    }

    @Test func `S10: a Security Request is reported when idle and ignored during pairing`() {
        var side = PairingSide(.central)
        for _ in 0..<1000 { #expect(side.sends(after: .pdu([0x0B, 0x0D])).isEmpty) }
        #expect(side.securityRequests.count == 1000)
        #expect(side.pairing.nextDeadline == nil && !side.pairing.isUnderWay)
        // While pairing is under way they change nothing.
        var busy = exchangingKeys(.central)
        #expect(busy.sends(after: .pdu([0x0B, 0x0D])).isEmpty)
        #expect(busy.securityRequests.isEmpty && busy.outcome == nil)
    }
}

extension Sequence<UInt8> {
    /// Hexadecimal digits that were reversed, as octets, the least significant first.
    fileprivate func chunked() -> [UInt8] {
        let digits = Array(self)
        return stride(from: 0, to: digits.count, by: 2).map { index in
            UInt8(String(decoding: [digits[index + 1], digits[index]], as: UTF8.self), radix: 16) ?? 0
        }
    }
}
