import BluetoothHost
import BluetoothUsers
import BusObjects
import DBus

/// A client's call that waits for the end of a pairing.
struct PendingPair {
    let client: Client
    let call: MethodCall
    /// The attempt to connect, until there is a link.
    var connecting: CallToken?
    /// Whether the devices have paired. Like BlueZ, the daemon answers when it also knows the services.
    var isPaired = false
}

extension Device {
    /// `Device1.Pair`.
    func pair(_ call: MethodCall) throws(BusError) {
        try daemon.adapter.requirePower()
        let client = try daemon.client(of: call)
        guard pairing == nil, connecting == nil else { throw .inProgress }
        guard !isBonded else { throw .alreadyExists }
        acquaint()
        pairing = PendingPair(client: client, call: call)
        // The agent of this client answers, if it has one.
        daemon.agents.begin(for: client)
        pairing?.connecting = connect(for: client) { [weak self] result in
            guard let self, pairing?.call === call else { return }
            pairing?.connecting = nil
            switch result {
            case .success(let link):
                resolveServices()
                secure(link, for: client)
            case .failure(.cancelled): endPairing(.authenticationCanceled)
            case .failure: endPairing(.connectionAttemptFailed)
            }
        }
    }

    private func secure(_ link: LinkIdentifier, for client: Client) {
        client.user.call(.pair(link, PairRequest())) { [weak self] result in
            switch result {
            case .success: self?.paired()
            case .failure(let error): self?.pairingFailed(error)
            }
        }
    }

    private func paired() {
        guard let pairing else { return }
        daemon.agents.end(for: pairing.client)
        self.pairing?.isPaired = true
        if resolution == .none || resolution == .resolved { servicesSettled() }
    }

    private func pairingFailed(_ error: HostError) {
        endPairing(.pairing(error))
        // BlueZ 5.66 keeps the link.
        if daemon.settings.profile != .bookworm { disconnect {} }
    }

    /// The services are known, or cannot be discovered on this link.
    func servicesSettled() {
        announcePairing()
        if pairing?.isPaired == true { endPairing(nil) }
    }

    /// Answers the client's call.
    private func endPairing(_ error: BusError?) {
        guard let pairing else { return }
        self.pairing = nil
        daemon.agents.end(for: pairing.client)
        if let error { pairing.call.fail(error) } else { pairing.call.reply() }
    }

    /// `Device1.CancelPairing`.
    func cancelPairing(_ call: MethodCall) throws(BusError) {
        guard pairing?.isPaired == false else { throw .doesNotExist }
        cancelPairing()
        call.reply()
    }

    /// Ends a pairing in progress, or the attempt to connect for it.
    func cancelPairing() {
        guard let pairing, !pairing.isPaired else { return }
        if let token = pairing.connecting { pairing.client.user.forget(token) }
        if let link = link.identifier { daemon.house.post(.cancelPairing(link)) }
        endPairing(.authenticationCanceled)
    }
}
