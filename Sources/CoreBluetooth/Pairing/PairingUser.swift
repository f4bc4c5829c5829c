import BluetoothAdapter
import BluetoothHost
import BluetoothSMP
import BluetoothUsers
import Foundation
import Synchronization

/// Answers the pairing questions of one adapter, for all managers of this process that share it.
final class PairingUser: AdapterObserver {
    private let runner: AdapterRunner
    private let identities: PeerIdentities
    private let pairing: Mutex<BluetoothPairing>
    private let identifier = Mutex<UserID?>(nil)
    /// Whether an application publishes a value that needs encryption. If so, centrals may pair.
    private let isExpected: @Sendable (_ reply: @escaping @Sendable (Bool) -> Void) -> Void
    private let peers = Mutex<[LinkIdentifier: PeerID]>([:])

    /// Attaches to an adapter, which retains the user until it closes.
    static func attach(
        to runner: AdapterRunner, _ identities: PeerIdentities, _ pairing: BluetoothPairing,
        isExpected: @escaping @Sendable (_ reply: @escaping @Sendable (Bool) -> Void) -> Void
    ) -> PairingUser {
        let user = PairingUser(runner, identities, pairing, isExpected)
        let identifier = runner.attach(user)
        user.identifier.withLock { $0 = identifier }
        user.use(pairing)
        return user
    }

    /// Uses other closures, from the next pairing on.
    func use(_ pairing: BluetoothPairing) {
        self.pairing.withLock { $0 = pairing }
        guard let identifier = identifier.withLock({ $0 }) else { return }
        runner.post(
            .setPairingAgent(PairingAgentDescription(ioCapability: pairing.ioCapability)), from: identifier)
    }

    private init(
        _ runner: AdapterRunner, _ identities: PeerIdentities, _ pairing: BluetoothPairing,
        _ isExpected: @escaping @Sendable (_ reply: @escaping @Sendable (Bool) -> Void) -> Void
    ) {
        self.runner = runner
        self.identities = identities
        self.pairing = Mutex(pairing)
        self.isExpected = isExpected
    }

    func receive(_ batch: borrowing EventBatch) {
        let user = batch.user
        for event in batch.events {
            switch event {
            case .linkBegan(let link, let information): peers.withLock { $0[link] = information.peer }
            case .linkEnded(let link, _): peers.withLock { $0[link] = nil }
            case .pairingAsked(let link, let question):
                guard let peer = identifier(of: link) else { continue }
                ask(question, of: peer) { [weak runner] in runner?.post(.answerPairing(link, $0), from: user) }
            case .pairingShown(let link, .passkey(let passkey)):
                if let peer = identifier(of: link) { pairing.withLock { $0 }.show?(passkey, peer) }
            case .pairingShown(_, .keypress), .adapter, .ended, .sightings, .advertisingSetEnded, .periodic, .subevents,
                .mtuChanged,
                .parametersChanged, .phyChanged, .power, .sendCredit, .lost, .peerIdentified, .nameChanged,
                .servicesKnown, .servicesChanged, .securityChanged, .pairingEnded, .bondRefused, .value,
                .subscriptionBegan, .channel, .written, .readRequested, .writeRequested, .executeRequested,
                .authorizationRequested, .requestExpired, .subscriptionChanged:
                continue
            }
        }
    }

    private func identifier(of link: LinkIdentifier) -> UUID? {
        peers.withLock { $0[link] }.map { identities.identifier(for: $0) }
    }

    private func ask(
        _ question: PairingQuestion, of peer: UUID, _ answer: @escaping @Sendable (PairingAnswer) -> Void
    ) {
        let pairing = pairing.withLock { $0 }
        let parameters = PairingParameters(ioCapability: pairing.ioCapability)
        switch question {
        case .consent:
            let reply = { @Sendable isAllowed in answer(isAllowed ? .accept(parameters) : .refuse) }
            if let allows = pairing.allows { allows(peer, reply) } else { isExpected(reply) }
        case .enterPasskey:
            guard let enter = pairing.enter else { return answer(.refuse) }
            enter(peer) { answer($0.map { .passkey($0) } ?? .refuse) }
        case .compareNumbers(let number):
            guard let compare = pairing.compare else { return answer(.refuse) }
            compare(number, peer) { answer($0 ? .accept() : .refuse) }
        }
    }
}

extension CBMutableCharacteristic {
    /// Whether some use of the characteristic requires an encrypted link.
    var needsEncryption: Bool {
        !permissions.isDisjoint(with: [.readEncryptionRequired, .writeEncryptionRequired])
            || !properties.isDisjoint(with: [.notifyEncryptionRequired, .indicateEncryptionRequired])
    }
}
