import BluetoothHost
import BluetoothSMP
import BluetoothUsers
import Synchronization

/// Routes the events of pairing and encryption. All of this runs on the adapter's thread.
extension EventRouter {
    private var pairingAgent: AsyncQueue<PairingEvent>? { state.withLock { $0.pairing } }

    func securityChanged(_ identifier: LinkIdentifier, _ security: LinkSecurity) {
        guard let link = link(identifier), let connection = connection(link) else { return }
        link.state.withLock { $0.security = security }
        publish(.securityChanged(connection, security))
    }

    func pairingEnded(_ identifier: LinkIdentifier, _ result: Result<PairingOutcome, PairingError>) {
        guard let link = link(identifier), let connection = connection(link) else { return }
        let agent = pairingAgent
        if case .failure(let error) = result { log.pairingFailed(error, with: link, hasAgent: agent != nil) }
        publish(.pairingEnded(connection, result))
        agent?.push(.ended(connection, result))
    }

    func pairingAsked(_ identifier: LinkIdentifier, _ question: PairingQuestion) {
        guard let link = link(identifier), let connection = connection(link) else { return }
        if let agent = pairingAgent {
            agent.push(.asked(connection, question))
        } else {
            post(.answerPairing(identifier, .refuse))
        }
    }

    func pairingShown(_ identifier: LinkIdentifier, _ display: PairingDisplay) {
        guard let link = link(identifier), let connection = connection(link) else { return }
        pairingAgent?.push(.shown(connection, display))
    }

    func bondRefused(_ identifier: LinkIdentifier) {
        guard let link = link(identifier), let connection = connection(link) else { return }
        log.bondRefused(by: link)
        publish(.bondRefused(connection))
    }
}
