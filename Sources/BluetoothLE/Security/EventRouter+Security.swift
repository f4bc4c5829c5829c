import BluetoothHost
import Synchronization

/// Routes what concerns pairing and encryption. All of this runs on the adapter's thread.
extension EventRouter {
    func handleSecurity(_ event: UserEvent, _ link: Link) {
        guard let connection = connection(link) else { return }
        let agent = state.withLock { $0.pairing }
        switch event {
        case .securityChanged(_, let security):
            link.state.withLock { $0.security = security }
            publish(.securityChanged(connection, security))
        case .pairingEnded(_, let result):
            if case .failure(let error) = result { log.pairingFailed(error, with: link, hasAgent: agent != nil) }
            publish(.pairingEnded(connection, result))
            agent?.push(.ended(connection, result))
        case .pairingAsked(_, let question):
            if let agent {
                agent.push(.asked(connection, question))
            } else {
                post(.answerPairing(link.identifier, .refuse))
            }
        case .pairingShown(_, let display): agent?.push(.shown(connection, display))
        case .bondRefused:
            log.bondRefused(by: link)
            publish(.bondRefused(connection))
        default: return
        }
    }
}
