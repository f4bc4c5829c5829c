import BluetoothBase
import BluetoothGATT
import BluetoothHost
import BluetoothUsers
import BusObjects
import DBus

/// A client's call that waits for a link.
struct PendingConnect {
    let client: Client
    let token: CallToken
    let call: MethodCall
}

extension Device {
    /// How long a client's attempt to connect takes at most. BlueZ leaves it to the kernel, which takes this time.
    static let connectTimeout = Duration.seconds(20)

    /// `Device1.Connect`.
    func connect(_ call: MethodCall) throws(BusError) {
        try daemon.adapter.requirePower()
        let client = try daemon.client(of: call)
        guard pairing == nil, connecting == nil else { throw .inProgress }
        acquaint()
        // Also if there is a link: it must not end with the client that established it.
        let token = connect(for: client) { [weak self] result in
            self?.connecting = nil
            switch result {
            case .success:
                call.reply()
                self?.resolveServices()
            case .failure(let error): call.fail(.connecting(error))
            }
        }
        connecting = PendingConnect(client: client, token: token, call: call)
    }

    /// Establishes a link for a client, or adds the client to the users of the existing one.
    @discardableResult
    func connect(
        for client: Client, _ completion: @escaping (Result<LinkIdentifier, HostError>) -> Void
    ) -> CallToken {
        client.user.call(.connect(peer, ConnectRequest(timeout: Self.connectTimeout))) { [weak self] result in
            switch result {
            case .success(.link(let link)): completion(.success(link))
            case .success: completion(.failure(.noSuchLink))
            case .failure(.alreadyConnected):
                completion(self?.link.identifier.map { .success($0) } ?? .failure(.noSuchLink))
            case .failure(let error): completion(.failure(error))
            }
        }
    }

    // MARK: - Disconnecting

    /// `Device1.Disconnect`.
    func disconnect(_ call: MethodCall) {
        // Like BlueZ, this succeeds without a link.
        disconnect { call.reply() }
    }

    /// Ends the link for all clients, and calls back when it has ended.
    func disconnect(_ completion: @escaping () -> Void) {
        cancelPairing()
        if let connecting {
            self.connecting = nil
            connecting.client.user.forget(connecting.token)
            connecting.call.fail(.connecting(.cancelled))
        }
        guard let link = link.identifier else { return completion() }
        disconnects.append(completion)
        if disconnects.count == 1 { daemon.house.post(.disconnect(link, reason: nil)) }
    }

    // MARK: - Links

    /// Whether clients see the device as connected.
    var isShownConnected: Bool { link.identifier != nil }

    func linkBegan(_ link: LinkIdentifier, _ information: LinkInformation) {
        self.link = .connected(link, information)
        if isBlocked { return disconnect {} }
        securityChanged(information.security)
        changed("Connected")
        // As the central, the client's call ends first: clients expect its reply before the services.
        if information.role == .peripheral { resolveServices() }
    }

    func linkEnded(_ ended: LinkIdentifier, _ reason: DisconnectReason) {
        guard link.identifier == ended else { return }
        let wereResolved = areServicesResolved
        resolution = .none
        areChangesFollowed = false
        for service in services { service.linkEnded() }
        removeBattery()
        // As in BlueZ, these are two signals.
        if wereResolved { changed("ServicesResolved") }
        daemon.tree.flush()
        if !isBonded { setPaired(false, false) }
        link = .none
        changed("Connected")
        let completions = disconnects
        disconnects = []
        for completion in completions { completion() }
        servicesSettled()
        released()
        // The clients' calls end with their own users.
    }

    func mtuChanged(_ mtu: Int) {
        guard case .connected(let identifier, var information) = link else { return }
        information.mtu = mtu
        link = .connected(identifier, information)
        // Like BlueZ, the daemon announces it again only if it differs from that of the last link.
        guard mtu != announcedMTU else { return }
        announcedMTU = mtu
        for service in services {
            for characteristic in service.characteristics { characteristic.changed("MTU") }
        }
    }

    /// Ends everything, because the adapter is gone.
    func adapterRemoved() {
        connecting?.call.fail(.connecting(.adapterRemoved))
        connecting = nil
        cancelPairing()
        for completion in disconnects { completion() }
        disconnects = []
        link = .none
    }

    func clientLeft(_ client: Client) {
        if let connecting, connecting.client === client {
            connecting.call.drop()
            self.connecting = nil
        }
        if let pairing, pairing.client === client {
            pairing.call.drop()
            self.pairing = nil
            if let link = link.identifier { daemon.house.post(.cancelPairing(link)) }
        }
        for service in services {
            for characteristic in service.characteristics { characteristic.clientLeft(client) }
        }
    }
}
