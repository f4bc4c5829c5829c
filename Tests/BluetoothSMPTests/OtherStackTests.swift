import BluetoothBase
import BluetoothSMP
import Foundation
import Testing

/// Pairings of another stack with itself. With the same keys and nonces this one sends the same octets, in either role,
/// and comes to the same key. (Two of ours that pair with each other may share a mistake.)
struct OtherStackTests {
    struct Session: Decodable, Sendable, CustomTestStringConvertible {
        var name: String
        var secureConnections: Bool
        /// Of the central, and of the peripheral, as all that follow.
        var ioCapabilities: [UInt8]
        var passkey: UInt32?
        var number: UInt32?
        var privateKeys: [String]
        var outOfBandRandoms: [String]?
        var outOfBandConfirms: [String]?
        /// Who has the other's out-of-band data.
        var hasPeerData: [Bool]?
        /// Up to the encryption: who sent it, and what.
        var pdus: [String]
        /// What the link is encrypted with.
        var key: String
        var testDescription: String { name }

        func octets(from role: LinkRole) -> [[UInt8]] {
            let letter = role == .central ? "C" : "P"
            return pdus.filter { $0.hasPrefix(letter) }.map { bytes($0) }
        }

        func bytes(_ line: String) -> [UInt8] {
            [UInt8](hexadecimal: String(line.dropFirst(2))) ?? []
        }
    }

    static let sessions: [Session] = {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Fixtures/SMP/bumble-sessions.json")
        do {
            return try JSONDecoder().decode([Session].self, from: Data(contentsOf: file))
        } catch {
            fatalError("cannot read \(file.path): \(error)")
        }
    }()

    static let addresses = [
        DeviceAddress(0xF0F1_F2F3_F4F5, kind: .random), DeviceAddress(0xE5E4_E3E2_E1E0, kind: .random),
    ]

    func side(_ session: Session, _ role: LinkRole) throws -> PairingSide {
        let index = Int(role.rawValue)
        let io = try #require(IOCapability(rawValue: session.ioCapabilities[index]))
        let request = try #require(session.octets(from: role).first)
        var side = PairingSide(
            role,
            policy: SecurityPolicy(
                offersSecureConnections: session.secureConnections, distributedKeys: [.encryption, .identity],
                wantedKeys: [.encryption, .identity]),
            parameters: PairingParameters(ioCapability: io, requiresAuthentication: request[3] & 0x04 != 0))
        side.pairing = Pairing(
            role: role, localAddress: Self.addresses[index], remoteAddress: Self.addresses[1 - index])
        side.entersInstead = session.passkey

        var values: [UInt128] = []
        let key = FieldElement(session.privateKeys[index])
        if session.secureConnections { values += [key.high, key.low] }
        let nonces = session.octets(from: role).filter { $0[0] == 0x04 }.map { octets in
            octets.dropFirst().reversed().reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
        }
        var entropy = ScriptedEntropy()
        if let has = session.hasPeerData, let randoms = session.outOfBandRandoms,
            let confirms = session.outOfBandConfirms
        {
            if has[1 - index] {
                let random = try #require(UInt128(randoms[index], radix: 16))
                side.resources.entropy = ScriptedEntropy(values: values + [random])
                let confirm = try #require(UInt128(confirms[index], radix: 16))
                #expect(side.resources.makeOutOfBandData() == .secureConnections(confirm: confirm, random: random))
                side.parameters.hasSentOutOfBandData = true
                values = []
            }
            if has[index] {
                side.parameters.peerOutOfBandData = .secureConnections(
                    confirm: try #require(UInt128(confirms[1 - index], radix: 16)),
                    random: try #require(UInt128(randoms[1 - index], radix: 16)))
            }
        }
        entropy.append(values)
        if let passkey = session.passkey, io == .displayOnly { entropy.append(passkey: passkey) }
        entropy.append(nonces)
        side.resources.entropy = entropy
        return side
    }

    @Test(arguments: sessions, LinkRole.allCases)
    func `A session of another stack is reproduced with the same octets and the same key`(
        _ session: Session, _ role: LinkRole
    ) throws {
        var side = try side(session, role)
        var sent: [[UInt8]] = []
        var key: UInt128?
        func carryOut(_ effects: [PairingEffect]) {
            var questions: [PairingQuestion] = []
            for effect in effects {
                side.note(effect)
                switch effect {
                case .send(let pdu): sent.append(pdu.octets)
                case .encrypt(let value): key = value
                case .ask(let question): questions.append(question)
                case .show, .securityRequested, .ended: break
                }
            }
            for question in questions {
                if case .compareNumbers(let number) = question { #expect(number == session.number) }
                carryOut(side.apply(.answer(side.answer(to: question, peer: side)), at: .zero))
            }
        }
        if role == .central { carryOut(side.apply(.begin, at: .zero)) }
        for octets in session.octets(from: role == .central ? .peripheral : .central) {
            carryOut(side.apply(.pdu(octets), at: .zero))
        }
        #expect(sent == session.octets(from: role))
        #expect(side.outcome == nil)
        if role == .peripheral { key = side.pairing.key(encryptedDiversifier: 0, random: 0) }
        #expect(key == UInt128(session.key, radix: 16))
        #expect(sent.count >= 3)
        if let passkey = session.passkey, side.parameters.ioCapability == .displayOnly {
            #expect(side.shownPasskey == passkey)
        }
    }
}

/// Entropy that is known beforehand, so that keys and nonces come out as somebody else drew them.
struct ScriptedEntropy: RandomNumberGenerator, Sendable {
    private var draws: [UInt64] = []

    init(values: [UInt128] = []) {
        append(values)
    }

    mutating func append(_ values: [UInt128]) {
        for value in values {
            draws += [UInt64(truncatingIfNeeded: value >> 64), UInt64(truncatingIfNeeded: value)]
        }
    }

    /// What an even draw of a million makes this passkey of.
    mutating func append(passkey: UInt32) {
        draws.append(UInt64((UInt128(passkey) << 64) / 1_000_000 + 1))
    }

    mutating func next() -> UInt64 {
        draws.isEmpty ? 0 : draws.removeFirst()
    }
}
