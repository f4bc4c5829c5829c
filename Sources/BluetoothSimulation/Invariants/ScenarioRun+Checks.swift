import BluetoothAdapter
import BluetoothGATT
import BluetoothHost
import VirtualRadio

/// What must hold when all is quiet.
extension ScenarioRun {
    /// Whether the controller does what the users wish.
    func areWishesMet(_ index: Int) -> Bool { isScanAsWished(index) && isAdvertisingAsWished(index) }

    private func isScanAsWished(_ index: Int) -> Bool {
        users[index].contains { $0.isAttached && $0.wantsScan } == controller(index).isScanning
    }

    private func isAdvertisingAsWished(_ index: Int) -> Bool {
        users[index].contains { $0.isAttached && $0.wantsAdvertising } == controller(index).isAdvertising
    }

    private func controller(_ index: Int) -> VirtualController { world.air[world.stations[index].controller] }

    /// What the users wish is what the controller does.
    func checkWishes(_ index: Int) {
        let users = users[index].filter(\.isAttached)
        let controller = controller(index)
        if !isScanAsWished(index) {
            fail(
                .wanted, "the controller \(controller.isScanning ? "scans" : "does not scan"), against all wishes",
                index)
        }
        if !isAdvertisingAsWished(index) {
            let what = controller.isAdvertising ? "advertises" : "does not advertise"
            fail(.wanted, "the controller \(what), against all wishes", index)
        }
        for user in users { (user as? CallUser).map(checkSubscriptions) }
        // Every user knows of the same links, and so does the controller.
        for user in users where user.linkCount != controller.connectionCount {
            let text = "a user knows \(user.linkCount) links, the controller \(controller.connectionCount)"
            fail(.linkEvents, text, index)
        }
    }

    /// What a client has subscribed to, its server serves, and the other way round.
    private func checkSubscriptions(_ server: CallUser) {
        guard server.isPublisher else { return }
        for link in server.links where server.links.count(where: { $0.peer == link.peer }) == 1 {
            guard !isTainted(link.peer), !isTainted(server.station) else { continue }
            for characteristic in [SimulatedService.Characteristic.stream, .card] {
                let clients = users[link.peer].filter { user in
                    user.isAttached && user.isSubscribed(to: characteristic, of: server.station)
                }
                let isServed = link.subscriptions[characteristic] != nil
                // What a bonded client has subscribed to on an earlier link is served on, whoever is there to take it.
                let isRestored = isServed && pairings.isEverBonded(server.station, link.peer)
                if clients.isEmpty == isServed, !isRestored {
                    fail(
                        .subscriptions,
                        "\(characteristic) of station \(server.station) has \(clients.count) subscribers at station "
                            + "\(link.peer), and its server \(isServed ? "serves" : "does not serve") it",
                        server.station)
                }
                checkArrival(link, server, clients, characteristic)
            }
        }
    }

    /// What was sent has arrived.
    private func checkArrival(
        _ link: UserLink, _ server: CallUser, _ clients: [any SimulatedUser],
        _ characteristic: SimulatedService.Characteristic
    ) {
        guard !pairings.isEverBonded(server.station, link.peer) else { return }
        for isIndicated in [false, true] {
            let key = UserLink.StreamKey(characteristic: characteristic, isIndicated: isIndicated)
            guard let stream = link.sending[key], !brokenStreams.contains(stream.identifier) else { continue }
            for client in clients where !incomplete.contains(client.station) {
                guard let last = client.lastReceived(of: stream.identifier, from: server.station), last != stream.last
                else { continue }
                fail(
                    .valueMissing,
                    "value \(last) of stream \(stream.identifier) arrived last, value \(stream.last) was sent",
                    client.station)
            }
        }
    }

    /// Nothing is on its way. A broken peer may queue writes, and leave them.
    func somethingWaits(_ index: Int) -> String? {
        let occupancy = runners[index].occupancy
        if occupancy.waitingCommands > 0 { return "\(occupancy.waitingCommands) commands" }
        if occupancy.waitingFrames > 0 { return "\(occupancy.waitingFrames) frames" }
        if occupancy.clientOperations > 0 { return "\(occupancy.clientOperations) operations of the client" }
        if occupancy.pairings > 0 { return "\(occupancy.pairings) pairings" }
        if occupancy.preparedWrites > 0, !runners.indices.contains(where: isTainted) {
            return "\(occupancy.preparedWrites) queued writes"
        }
        return nil
    }

    /// When all is quiet, nothing is under way.
    func checkNothingWaits(_ index: Int) {
        guard let what = somethingWaits(index) else { return }
        fail(.leftovers, "\(what) wait although all is quiet", index)
    }

    /// Without users, nothing goes on.
    func checkNothingIsLeft(_ index: Int) {
        let controller = controller(index)
        if controller.isScanning { fail(.leftovers, "the controller scans for nobody", index) }
        if controller.isAdvertising { fail(.leftovers, "the controller advertises for nobody", index) }
        if controller.isInitiating { fail(.leftovers, "the controller connects for nobody", index) }
        if controller.connectionCount > 0 {
            fail(.leftovers, "\(controller.connectionCount) links have no users", index)
        }
        let occupancy = runners[index].occupancy
        if occupancy != .none { fail(.leftovers, "left in the host: \(occupancy)", index) }
    }

    private func fail(_ rule: Violation.Rule, _ text: String, _ index: Int) {
        world.fail(rule, text, at: world.station(index))
    }
}
