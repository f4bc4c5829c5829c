import BluetoothBase
import BluetoothCrypto
import BluetoothSMP

extension PairingBench {
    /// The other device, and the person at it, who consents to everything that is right.
    struct Peer {
        private var pairing: Pairing
        private var resources: SecurityResources
        private let parameters: PairingParameters
        private var question: PairingQuestion?
        private var begunKey: UInt128?
        /// The passkey that this device shows.
        private(set) var shown: UInt32?
        /// The passkey that this device's person has read or entered.
        private(set) var passkey: UInt32?
        /// The number that this device shows.
        private(set) var number: UInt32?
        /// The passkey that the other device shows.
        var passkeyToEnter: UInt32?

        private let role: LinkRole

        init(
            _ role: LinkRole, local: DeviceAddress, peer: DeviceAddress, policy: SecurityPolicy,
            parameters: PairingParameters
        ) {
            self.role = role
            pairing = Pairing(role: role, localAddress: local, remoteAddress: peer)
            resources = SecurityResources(
                crypto: LibraryToolbox(), entropy: SeededGenerator(seed: 2), policy: policy,
                identity: DeviceIdentity(address: local, resolvingKey: 2))
            self.parameters = parameters
        }

        /// The key that the link is to be encrypted with.
        var key: UInt128? { begunKey ?? pairing.key(encryptedDiversifier: 0, random: 0) }

        mutating func begin(at now: Instant, _ sent: inout [[UInt8]]) {
            // A peripheral waits to be asked.
            guard begunKey == nil, role == .central else { return }
            carryOut(pairing.begin(parameters, &resources, at: now), &sent)
        }

        mutating func receive(_ pdu: [UInt8], at now: Instant, _ sent: inout [[UInt8]]) {
            carryOut(pairing.receive(pdu.span, &resources, at: now), &sent)
        }

        mutating func encryptionChanged(status: UInt8, at now: Instant, _ sent: inout [[UInt8]]) {
            begunKey = nil
            carryOut(
                pairing.encryptionChanged(status: status, isEncrypted: status == 0, &resources, at: now), &sent)
        }

        /// Time passes here, too, and the person answers as soon as there is something to read.
        mutating func advance(at now: Instant, _ sent: inout [[UInt8]]) {
            carryOut(pairing.fire(at: now), &sent)
            let answer: PairingAnswer
            switch question {
            case .consent: answer = .accept(parameters)
            case .enterPasskey:
                passkey = passkeyToEnter ?? 42
                answer = .passkey(passkeyToEnter ?? 42)
            case .compareNumbers(let number):
                self.number = number
                answer = .accept()
            case nil: return
            }
            question = nil
            carryOut(pairing.answer(answer, &resources, at: now), &sent)
        }

        private mutating func carryOut(_ effects: [PairingEffect], _ sent: inout [[UInt8]]) {
            for effect in effects {
                switch effect {
                case .send(let pdu):
                    var writer = ByteWriter()
                    pdu.encode(into: &writer)
                    sent.append(writer.bytes)
                case .encrypt(let key): begunKey = key
                case .ask(let question): self.question = question
                case .show(.passkey(let passkey)):
                    shown = passkey
                    self.passkey = passkey
                case .show(.keypress): break
                case .securityRequested: break
                case .ended: (question, shown, number, passkeyToEnter) = (nil, nil, nil, nil)
                }
            }
        }
    }
}
