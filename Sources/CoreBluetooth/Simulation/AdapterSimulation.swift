import BluetoothAdapter
import BluetoothBase
import BluetoothHost
import BluetoothUsers

/// Test controls for the adapter that managers use: for `CoreBluetoothTesting`.
package enum AdapterSimulation {
    /// Switches the adapter at a transport off or on, also for managers created later.
    package static func setPower(_ isOn: Bool, at transport: BluetoothTransport) async {
        await SharedAdapter.at(transport).setPower(isOn)
    }

    /// Revokes the permission to use the adapter, or restores it.
    package static func setAuthorization(
        _ authorization: CBManagerAuthorization, at transport: BluetoothTransport
    ) async {
        Authorization.$simulated.withLock { $0[transport] = authorization }
        await SharedAdapter.at(transport).setForbidden(authorization != .allowedAlways)
    }

    /// Replaces the user interaction for pairing, from the next pairing on, also for managers created later.
    package static func setPairing(_ pairing: BluetoothPairing, at transport: BluetoothTransport) {
        SharedAdapter.at(transport).setPairing(pairing)
    }

    /// Simulates another program on this device that connects to a peer and uses the link until it ends. Returns when
    /// the peer's services are known.
    package static func connect(
        to address: DeviceAddress, at transport: BluetoothTransport
    ) async throws(BluetoothError) {
        try await OtherProgram(transport, PeerID(address)).connect()
    }

    /// Waits until the managers at a transport have delivered all events so far to the application.
    package static func waitUntilDelivered(at transport: BluetoothTransport) async {
        await SharedAdapter.at(transport).waitUntilDelivered()
    }

    /// The adapter at a transport; nil while no manager uses it.
    package static func runner(at transport: BluetoothTransport) -> AdapterRunner? {
        SharedAdapter.at(transport).current
    }

    /// Forgets the simulated state of a transport that no longer exists.
    package static func forget(_ transport: BluetoothTransport) {
        Authorization.$simulated.withLock { $0[transport] = nil }
        SharedAdapter.forget(transport)
    }
}

/// A user of a link that is not one of the application's managers.
private final class OtherProgram: AdapterUser, AdapterObserver, @unchecked Sendable {
    // Unchecked: the continuation is guarded; the rest is used only on the adapter's thread.
    private let adapter: SharedAdapter
    private let peer: PeerID
    @Guarded private var waiting: CheckedContinuation<Result<Void, BluetoothError>, Never>?
    @Guarded private var runner: AdapterRunner?
    private var link: LinkIdentifier?
    /// The links whose services are known: the managers may have had this one before.
    private var known: Set<LinkIdentifier> = []

    init(_ transport: BluetoothTransport, _ peer: PeerID) {
        adapter = .at(transport)
        self.peer = peer
    }

    func connect() async throws(BluetoothError) {
        let result = await withCheckedContinuation { continuation in
            waiting = continuation
            adapter.add(self)
        }
        try result.get()
    }

    func begin() {}

    func join(_ runner: AdapterRunner) {
        self.runner = runner
        _ = runner.attach(self)
    }

    func adapterIsAway(_ state: CBManagerState) { end(.adapterRemoved) }

    func receive(_ batch: borrowing EventBatch) {
        for event in batch.events {
            switch event {
            case .adapter(.ready):
                guard let runner else { continue }
                runner.post(.connect(peer, ConnectRequest()), token: runner.makeToken(), from: batch.user)
            case .adapter(.opening): continue
            case .adapter: end(.adapterRemoved)
            case .ended(_, .success(.link(let link))):
                self.link = link
                if known.contains(link) { resume(.success(())) }
            case .ended(_, .failure(let error)): end(BluetoothError(error))
            case .servicesKnown(let link, _):
                known.insert(link)
                if link == self.link { resume(.success(())) }
            case .linkEnded(let link, let reason):
                known.remove(link)
                guard link == self.link else { continue }
                runner?.detach(batch.user)
                end(.disconnected(reason))
            case .ended(_, .success), .sightings, .advertisingSetEnded, .periodic, .subevents, .linkBegan, .mtuChanged,
                .parametersChanged, .phyChanged, .power, .sendCredit, .lost, .peerIdentified, .nameChanged,
                .servicesChanged, .securityChanged, .pairingEnded, .pairingAsked, .pairingShown, .bondRefused,
                .value, .subscriptionBegan, .channel, .written, .readRequested, .writeRequested, .executeRequested,
                .authorizationRequested, .requestExpired, .subscriptionChanged:
                continue
            }
        }
    }

    private func end(_ error: BluetoothError) {
        resume(.failure(error))
        adapter.remove(self) {}
    }

    private func resume(_ result: Result<Void, BluetoothError>) {
        $waiting.withLock { waiting in
            defer { waiting = nil }
            return waiting
        }?.resume(returning: result)
    }
}
