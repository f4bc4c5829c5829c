import BluetoothBase
import CoreBluetooth
import Foundation

/// The conditions that must hold between both ends when the world is quiet.
extension DelegateUser {
    /// Whether the user is subscribed to a characteristic of a station's own service.
    func isSubscribed(to characteristic: SimulatedService.Characteristic, of station: Int) -> Bool {
        subscriptions(to: station).contains { $0.simulated == characteristic && !$0.isOfDelegate }
    }

    /// Always false: a delegate user learns of a change before it can use the services it found.
    func isSubscribedByOldHandles(of station: Int) -> Bool { false }

    private func subscriptions(to station: Int) -> [CBCharacteristic] {
        peers.filter { $0.station == station && $0.isConnected }.flatMap(\.characteristics).filter(\.isNotifying)
    }

    func lastReceived(of stream: UInt32, from station: Int) -> UInt32? {
        peers.first { $0.station == station }?.received.last(of: stream)
    }

    /// The number of service changes of a station; nil if this user's host already watches for changes.
    func unwatchedEpoch(of other: Int) -> Int? {
        let isWatched = run.users[station].contains { user in
            guard let user = user as? CallUser else { return false }
            return user.links.contains { $0.peer == other && user.parts.discovery.isWatched($0.identifier) }
        }
        return isWatched ? nil : run.epochs[other]
    }

    /// Checks that the subscribers of this user's services are exactly those the manager reports.
    func checkSubscribers() {
        for service in services where !service.isRemoved {
            let known = (service.stream.subscribedCentrals ?? []).compactMap { station(of: $0.identifier) }
            for other in 0..<run.world.stationCount where other != station && !isTainted(other) {
                let clients = run.users[other].compactMap { $0 as? DelegateUser }.filter(\.isAttached)
                // Two users of this station may offer the same service, so nothing can be concluded about either.
                let isAlone = run.users[station].count { ($0 as? DelegateUser)?.services.isEmpty == false } == 1
                guard isAlone, services.count == 1 else { continue }
                let holders = clients.filter { client in
                    client.subscriptions(to: station).contains { $0.isOfDelegate && $0.simulated == .stream }
                }
                let isRestored = known.contains(other) && run.pairings.isEverBonded(station, other)
                // Service Changed may cover attributes that have not changed (Vol 3, Part G, 7.1). The client discovers
                // them again, and its configuration stays as it was.
                let isForgotten =
                    known.contains(other)
                    && clients.contains { $0.peers.contains { $0.station == station && $0.hasChanged } }
                // The configuration also stays if a user of another API subscribed by handles that it found before they
                // belonged to this service.
                let isByOldHandles =
                    known.contains(other) && run.users[other].contains { $0.isSubscribedByOldHandles(of: station) }
                if known.contains(other) == holders.isEmpty, !isRestored, !isForgotten, !isByOldHandles {
                    fail(
                        .subscriptions,
                        "\(holders.count) users of station \(other) are subscribed, but \(known) were reported")
                }
                checkArrival(service, holders)
            }
        }
    }

    private func checkArrival(_ service: DelegateService, _ clients: [DelegateUser]) {
        guard let sending = service.sending else { return }
        for client in clients {
            guard let last = client.lastReceived(of: sending.identifier, from: station), last != sending.last else {
                continue
            }
            client.fail(
                .valueMissing,
                "value \(last) of stream \(sending.identifier) arrived last, but value \(sending.last) was sent last")
        }
    }
}
