import BluetoothAdapter
import BluetoothGATT
import BluetoothHost
import VirtualRadio

/// The conditions that must hold when the world is quiet.
extension ScenarioRun {
    /// Whether the controller does what the users want.
    func areWishesMet(_ index: Int) -> Bool {
        isScanAsWished(index) && isAdvertisingAsWished(index) && isConnectingAsWished(index)
    }

    /// A user that waits for a connection expects the controller to initiate it as soon as it can.
    private func isConnectingAsWished(_ index: Int) -> Bool {
        controller(index).isInitiating || !users[index].contains { ($0 as? CallUser)?.parts.attempts.isWaiting == true }
    }

    private func isScanAsWished(_ index: Int) -> Bool {
        users[index].contains { $0.isAttached && $0.wantsScan } == controller(index).isScanning
    }

    private func isAdvertisingAsWished(_ index: Int) -> Bool {
        let users = users[index].filter(\.isAttached)
        // The users' ordinary advertisements share one set. Each other advertisement has its own.
        let sets = users.reduce(0) { $0 + (($1 as? CallUser)?.parts.advertising.wantedSets ?? 0) }
        return sets + (users.contains(where: \.wantsAdvertising) ? 1 : 0) == controller(index).enabledSetCount
    }

    private func controller(_ index: Int) -> VirtualController { world.air[world.stations[index].controller] }

    /// Checks that the controller does what the users want.
    func checkWishes(_ index: Int) {
        let users = users[index].filter(\.isAttached)
        let controller = controller(index)
        if !isScanAsWished(index) {
            fail(
                .wanted,
                "the controller \(controller.isScanning ? "scans" : "does not scan"), which no user has requested",
                index)
        }
        if !isAdvertisingAsWished(index) {
            let what = controller.isAdvertising ? "advertises" : "does not advertise"
            fail(.wanted, "the controller \(what), which no user has requested", index)
        }
        if !isConnectingAsWished(index) {
            fail(.wanted, "the controller does not connect, although a user waits for a connection", index)
        }
        for user in users {
            guard let user = user as? CallUser else { continue }
            checkSubscriptions(user)
            checkLinks(user)
        }
        // All users know the same links, and so does the controller.
        for user in users where user.linkCount != controller.connectionCount {
            let text = "a user knows \(user.linkCount) links, the controller \(controller.connectionCount)"
            fail(.linkEvents, text, index)
        }
    }

    /// Checks that both ends of a link agree about its state.
    private func checkLinks(_ user: CallUser) {
        for link in user.links where user.links.count(where: { $0.peer == link.peer }) == 1 {
            guard !isTainted(link.peer), !isTainted(user.station),
                let peer = users[link.peer].lazy.compactMap({ $0 as? CallUser }).first(where: \.isAttached)
            else { continue }
            let others = peer.links.filter { $0.peer == user.station }
            guard others.count == 1 else { continue }
            checkConfigured(link, user.station, others[0])
            checkFound(link, user)
            let (own, theirs) = (link.information, others[0].information)
            let limit = min(preferredMTU(user.station), preferredMTU(link.peer))
            if own.mtu > limit { fail(.mtu, "the ATT_MTU is \(own.mtu), although \(limit) was offered", user.station) }
            let isSure = !incomplete.contains(user.station) && !incomplete.contains(link.peer)
            if isSure, own.mtu != theirs.mtu {
                fail(
                    .mtu, "the ATT_MTU is \(own.mtu) at one end of a link and \(theirs.mtu) at the other",
                    user.station)
            }
            if isSure, own.parameters != theirs.parameters {
                let text = "\(own.parameters) at one end of a link and \(theirs.parameters) at the other"
                fail(.linkEvents, text, user.station)
            }
        }
    }

    /// Checks that the configuration a client has written is the last one reported to the server.
    private func checkConfigured(_ link: UserLink, _ server: Int, _ other: UserLink) {
        guard let written = configurations[Way(station: link.peer, peer: server)], written.link == other.identifier,
            written.handle == configurables[server]?.characteristics.first?.clientConfiguration,
            let value = written.value, !pairings.isEverBonded(server, link.peer),
            let user = users[server].first as? CallUser, user.context.links[link.identifier] != nil
        else { return }
        let reported = user.parts.subscribers.writtenConfiguration(on: link.identifier)
        if reported != value {
            fail(.subscriptions, "a client wrote \(value), but \(reported) was reported to the server", server)
        }
    }

    /// Checks that attributes are where a client has found them, unless the client was notified of a change. A server
    /// does not indicate changes from before the subscription to Service Changed (Vol 3, Part G, 7.1), so the client's
    /// host must find them. After `servicesKnown` the host watches for changes.
    private func checkFound(_ link: UserLink, _ user: CallUser) {
        let client = user.station, discovery = user.parts.discovery
        guard discovery.isWatched(link.identifier), !incomplete.contains(client), !incomplete.contains(link.peer) else {
            return
        }
        for (characteristic, handles) in discovery.handles(on: link.identifier)
        where services[link.peer] == nil || handles.lowerBound != handle(of: characteristic, at: link.peer) {
            let text = "\(characteristic) was found at \(handles.lowerBound), where it is not any more"
            return fail(.expected, text, client)
        }
    }

    private func preferredMTU(_ index: Int) -> Int { Int(scenario.devices[index].preferredMTU) }

    /// Checks that clients and servers agree about subscriptions.
    private func checkSubscriptions(_ server: CallUser) {
        guard server.isPublisher else { return }
        for link in server.links where server.links.count(where: { $0.peer == link.peer }) == 1 {
            guard !isTainted(link.peer), !isTainted(server.station) else { continue }
            for characteristic in [SimulatedService.Characteristic.stream, .card] {
                let clients = users[link.peer].filter { user in
                    user.isAttached && user.isSubscribed(to: characteristic, of: server.station)
                }
                let isServed = server.parts.subscribers.configuration(of: characteristic, on: link.identifier) != nil
                // A subscription that a bonded client made on an earlier link stays active, even without a user to
                // receive its values.
                let isRestored = isServed && pairings.isEverBonded(server.station, link.peer)
                // A lost response ends the enhanced bearer it was for, but not the link (Core 5.4, Vol 3, Part F,
                // 3.3.3). The client then does not know the state of its subscription.
                let isUnknown =
                    isServed && isEncrypted(link.peer, server.station)
                    && (incomplete.contains(link.peer) || incomplete.contains(server.station))
                // A client that notices a change before it is notified of changes may not know what has changed. All
                // its subscriptions end then, including those that the server keeps.
                let hasChanged = users[server.station].contains { user in
                    (user as? CallUser)?.parts.services.changedAt.map { $0 >= link.beginning } ?? false
                }
                if clients.isEmpty == isServed, !isRestored, !isUnknown, !(isServed && hasChanged) {
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

    /// Checks that the values sent have arrived.
    private func checkArrival(
        _ link: UserLink, _ server: CallUser, _ clients: [any SimulatedUser],
        _ characteristic: SimulatedService.Characteristic
    ) {
        guard !pairings.isEverBonded(server.station, link.peer) else { return }
        for isIndicated in [false, true] {
            let key = UserLink.StreamKey(characteristic: characteristic, isIndicated: isIndicated)
            guard let stream = server.parts.sending.stream(key, on: link.identifier),
                !brokenStreams.contains(stream.identifier)
            else { continue }
            for client in clients where !incomplete.contains(client.station) {
                guard let last = client.lastReceived(of: stream.identifier, from: server.station), last != stream.last
                else { continue }
                fail(
                    .valueMissing,
                    "value \(last) of stream \(stream.identifier) arrived last, but value \(stream.last) was sent last",
                    client.station)
            }
        }
    }

    /// Describes anything still pending at a station; nil if there is nothing. A broken peer may queue writes and never
    /// execute them.
    func somethingWaits(_ index: Int) -> String? {
        let occupancy = runners[index].occupancy
        if occupancy.waitingCommands > 0 { return "\(occupancy.waitingCommands) commands" }
        if occupancy.waitingFrames > 0, !mayMissCredits(index) { return "\(occupancy.waitingFrames) frames" }
        if occupancy.clientOperations > 0 { return "\(occupancy.clientOperations) operations of the client" }
        if occupancy.channelRequests > 0 { return "\(occupancy.channelRequests) requests about channels" }
        if occupancy.pairings != 0 { return "\(occupancy.pairings) pairings" }
        if occupancy.preparedWrites > 0, !runners.indices.contains(where: isTainted) {
            return "\(occupancy.preparedWrites) queued writes"
        }
        return nil
    }

    /// Whether a host may wait for credits forever, because K-frames were lost on the way to a peer, which returns no
    /// credits for them.
    private func mayMissCredits(_ index: Int) -> Bool {
        scenario.hasChannels && incomplete.contains { $0 != index }
    }

    /// Checks that hosts keep to their limits, whatever peers and users do.
    func checkBounds() {
        for index in runners.indices {
            if let surplus = runners[index].surplus { fail(.bounds, "a host holds \(surplus)", index) }
        }
    }

    /// Checks that nothing is pending when the world is quiet.
    func checkNothingWaits(_ index: Int) {
        guard let what = somethingWaits(index) else { return }
        fail(.leftovers, "\(what) still wait although nothing is in progress", index)
    }

    /// Checks that nothing continues without users.
    func checkNothingIsLeft(_ index: Int) {
        let controller = controller(index)
        if controller.isScanning { fail(.leftovers, "the controller scans, but no user requested it", index) }
        if controller.isAdvertising { fail(.leftovers, "the controller advertises, but no user requested it", index) }
        if controller.isInitiating { fail(.leftovers, "the controller connects, but no user requested it", index) }
        if controller.syncCount > 0 {
            fail(.leftovers, "the controller is synchronized, but no user requested it", index)
        }
        if controller.connectionCount > 0 {
            fail(.leftovers, "\(controller.connectionCount) links have no users", index)
        }
        var occupancy = runners[index].occupancy
        // The buffers of a link whose end is not reported are never freed.
        if scenario.faults.contains(where: { $0.kind == .lostEnds && $0.device == index }) {
            occupancy.takenBuffers = 0
        }
        if occupancy != .none { fail(.leftovers, "left in the host: \(occupancy)", index) }
    }

    private func fail(_ rule: Violation.Rule, _ text: String, _ index: Int) {
        world.fail(rule, text, at: world.station(index))
    }

    /// Makes each server send a value to which its clients have not subscribed. It must not leave the host.
    func examine() {
        for user in users.joined() {
            guard let user = user as? CallUser, user.isAttached, user.isPublisher, !isDamaged(user.station) else {
                continue
            }
            user.parts.sending.sendUnwanted()
        }
        world.run(for: .seconds(1))
    }
}
