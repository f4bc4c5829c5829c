import BluetoothATT
import BluetoothAdapter
import BluetoothBase
import BluetoothGATT
import BluetoothHost
import BluetoothLE

/// The actions of a user on a link.
extension TaskUser {
    func perform(
        _ kind: Scenario.Action.Kind, on connection: Connection, _ deadline: Duration?, _ pick: inout SeededGenerator
    ) {
        switch kind {
        case .release:
            start(kind) { [self] _ in
                connection.release()
                connections.removeAll { $0 == connection }
            }
        case .disconnect:
            noteDisconnect(connection)
            start(kind, cancelledIn: deadline) { _ throws(BluetoothError) in try await connection.disconnect() }
        case .discover: discover(connection, deadline)
        case .read, .readLong, .readByUUID, .readMultiple: read(kind, connection, deadline, &pick)
        case .write, .writeLong, .writeReliably: write(kind, connection, deadline, &pick)
        case .writeCommands: writeCommands(connection, deadline, &pick)
        case .subscribe: subscribe(connection, pick.oneIn(3) ? .milliseconds(pick.below(8_000)) : nil)
        case .subscribeSlowly: subscribe(connection, nil, pause: .seconds(25))
        case .card: receiveCard(connection, deadline)
        case .unsubscribe:
            guard let stream = find(.stream, on: connection) else { return }
            start(kind, cancelledIn: deadline) { _ throws(BluetoothError) in
                try await connection.unsubscribe(from: stream)
            }
        case .readRSSI:
            start(kind, cancelledIn: deadline) { _ throws(BluetoothError) in _ = try await connection.rssi() }
        case .updateParameters:
            let interval = UInt16(6 + pick.below(30))
            let parameters = ConnectionParameters(
                intervalMin: interval, intervalMax: interval + 8, latency: 0, timeout: 400)
            start(kind, cancelledIn: deadline) { _ throws(BluetoothError) in
                try await connection.updateParameters(parameters)
            }
        case .advertise, .stopAdvertising, .scan, .stopScanning, .connect, .cancel, .notify, .indicate, .update, .hold,
            .resume, .dawdle, .publish, .withdraw, .leave, .join, .beAgent, .beNoAgent, .removeBond, .cancelPairing,
            .configure, .useFormerLink, .dribble, .burst, .openChannel, .sendOverChannel, .closeChannel,
            .reconfigureChannel, .pauseChannel, .resumeChannel, .step, .advertiseSet, .stopSet,
            .advertiseTrain, .changeTrain, .stopTrain, .synchronize, .endSync, .tellOfTrain, .acceptTrains,
            .advertiseSubevents, .connectInSubevent:
            return
        case .pair: pair(connection, deadline, &pick)
        case .endPairing:
            noteDisconnect(connection)
            start(.disconnect, cancelledIn: deadline) { _ throws(BluetoothError) in try await connection.disconnect() }
        case .useLocked: useLocked(connection, deadline, &pick)
        }
    }

    private func noteDisconnect(_ connection: Connection) {
        guard let peer = run.station(at: connection.address) else { return }
        run.disconnects.insert(.init(station: station, peer: peer))
    }

    private func find(
        _ characteristic: SimulatedService.Characteristic, on connection: Connection
    ) -> DiscoveredCharacteristic? {
        databases[connection]?.characteristics.first { $0.uuid == SimulatedService.uuid(of: characteristic) }
    }

    private func discover(_ connection: Connection, _ deadline: Duration?) {
        start(.discover, cancelledIn: deadline) { [self] _ throws(BluetoothError) in
            let database = try await connection.discoverAll()
            if connections.contains(connection) { databases[connection] = database }
        }
    }

    private func read(
        _ kind: Scenario.Action.Kind, _ connection: Connection, _ deadline: Duration?, _ pick: inout SeededGenerator
    ) {
        guard let drawn = pick.element(of: SimulatedService.Characteristic.allCases),
            let characteristic = find(drawn, on: connection)
        else { return discover(connection, deadline) }
        start(kind, cancelledIn: deadline) { [self] _ throws(BluetoothError) in
            if kind == .readByUUID {
                for value in try await connection.readValues(of: characteristic.uuid) {
                    check(value.value, of: connection)
                }
            } else {
                try await readWhole(characteristic, connection)
            }
        }
    }

    private func readWhole(
        _ characteristic: DiscoveredCharacteristic, _ connection: Connection
    ) async throws(BluetoothError) {
        let use = storedPeer(of: characteristic, connection).flatMap { run.beginRead(of: $0) }
        let bytes = try await connection.read(characteristic)
        check(bytes, of: connection)
        let isWrong =
            use.map { use in
                run.isWrong(use, isInParts: true) {
                    $0 == bytes || run.isCut($0, to: bytes, between: station, use.station)
                }
            } ?? false
        if isWrong, !run.isTainted(station) {
            fail(.expected, "\(bytes.count) octets were read that no station wrote")
        }
    }

    /// The station whose stored value a characteristic is, if the service has not moved since it was found.
    private func storedPeer(of characteristic: DiscoveredCharacteristic, _ connection: Connection) -> Int? {
        guard let peer = run.station(at: connection.address) else { return nil }
        return characteristic.valueHandle == run.handle(of: .stored, at: peer) ? peer : nil
    }

    private func pair(_ connection: Connection, _ deadline: Duration?, _ pick: inout SeededGenerator) {
        let request = PairRequest(requiresAuthentication: pick.oneIn(3), renewsKeys: pick.oneIn(3))
        if let peer = run.station(at: connection.address) { pairedWith.insert(peer) }
        start(.pair, cancelledIn: deadline) { [self] _ throws(BluetoothError) in
            try await connection.pair(request)
            guard let peer = run.station(at: connection.address), !run.isDamaged(station) else { return }
            // The link's encryption may have ended since.
            if !run.isEncrypted(station, peer), connection.security.isEncrypted {
                fail(.protection, "pair succeeded, but the link is not encrypted")
            }
        }
    }

    private func useLocked(_ connection: Connection, _ deadline: Duration?, _ pick: inout SeededGenerator) {
        guard let locked = find(.locked, on: connection) else { return discover(connection, deadline) }
        let value = SimulatedValue(.locked, station: station, stream: 0, number: run.nextNumber()).bytes(count: 20)
        let isWrite = pick.oneIn(2)
        start(isWrite ? .write : .read, cancelledIn: deadline) { [self] _ throws(BluetoothError) in
            if isWrite {
                try await connection.write(value, to: locked.valueHandle)
            } else {
                check(try await connection.read(locked), of: connection)
            }
        }
    }

    /// Checks that a value that was read may be read.
    private func check(_ bytes: [UInt8], of connection: Connection) {
        guard let peer = run.station(at: connection.address), !run.isTainted(station), !run.isTainted(peer),
            let value = SimulatedValue(bytes.span)
        else { return }
        let isLocked = value.characteristic == .locked && !run.wasEncrypted(station, peer)
        if isLocked || value.characteristic == .writeOnly {
            fail(.permission, "read returned a value of \(value.characteristic)")
        }
    }

    private func write(
        _ kind: Scenario.Action.Kind, _ connection: Connection, _ deadline: Duration?, _ pick: inout SeededGenerator
    ) {
        guard let drawn = pick.element(of: SimulatedService.Characteristic.allCases),
            let characteristic = find(drawn, on: connection)
        else { return discover(connection, deadline) }
        let value = SimulatedValue(drawn, station: station, stream: 0, number: run.nextNumber())
            .bytes(count: [10, 20, 100, 512][pick.below(4)])
        start(kind, cancelledIn: deadline) { [self] _ throws(BluetoothError) in
            let use = storedPeer(of: characteristic, connection).flatMap { run.beginWrite(value, to: $0) }
            try await connection.write(value, to: characteristic.valueHandle)
            if let use { run.endWrite(use, .done) }
        }
    }

    private func writeCommands(_ connection: Connection, _ deadline: Duration?, _ pick: inout SeededGenerator) {
        guard let commands = find(.commands, on: connection) else { return discover(connection, deadline) }
        let count = UInt32(1 + pick.below(100))
        let stream = run.nextNumber()
        start(.writeCommands, cancelledIn: deadline) { [self] _ throws(BluetoothError) in
            for number in 1...count {
                let value = SimulatedValue(.commands, station: station, stream: stream, number: number)
                try await connection.writeWithoutResponse(value.bytes(count: 20), to: commands)
            }
        }
    }

    /// Subscribes, and consumes values until the link ends or the task is cancelled.
    ///
    /// - Parameter pause: the time without consuming values after the first one.
    private func subscribe(_ connection: Connection, _ deadline: Duration?, pause: Duration = .zero) {
        guard let stream = find(.stream, on: connection), let peer = run.station(at: connection.address) else {
            return discover(connection, deadline)
        }
        start(.subscribe, cancelledIn: deadline) { [self] _ throws(BluetoothError) in
            var values = try await connection.notifications(of: stream).makeAsyncIterator()
            var order = StreamOrder()
            let subscription = Subscription(characteristic: .stream, handle: stream.valueHandle, station: peer)
            subscriptions.append(subscription)
            defer { ended(subscription) }
            // Values that wait for this user delay the responses behind them.
            if pause > .zero { run.hasHeld.insert(station) }
            var pause = pause
            while true {
                do throws(BluetoothError) {
                    guard let value = try await values.next() else { return }
                    received(value, &order, from: connection)
                    if pause > .zero { try? await run.world.clock.sleep(for: pause) }
                    pause = .zero
                } catch {
                    guard error == .dataLost else { throw error }
                    order.noteLoss()
                }
            }
        }
    }

    private func received(_ bytes: [UInt8], _ order: inout StreamOrder, from connection: Connection) {
        guard let peer = run.station(at: connection.address), !run.isTainted(station), !run.isTainted(peer) else {
            return
        }
        guard let value = SimulatedValue(bytes.span), value.characteristic == .stream, value.station == peer else {
            return fail(.valueOrder, "a value arrived that station \(peer) did not send")
        }
        if !SimulatedValue.isWhole(bytes.span) { fail(.valueOrder, "a value was truncated to \(bytes.count) octets") }
        let mayMiss = run.mayMiss(value.stream, station, peer)
        if let finding = order.take(value, mayMiss: mayMiss) { fail(finding.rule, finding.text) }
    }

    /// Checks that a call does not keep waiting for a card of which no octets arrive, even if empty parts do.
    private func checkIdleTime(since beginning: Instant, from peer: Int) {
        let isHealthy = [station, peer].allSatisfy { !run.hasFaults($0) && !run.hasHeld.contains($0) }
        guard isHealthy, !run.hasSecurity, !run.hasDawdled else { return }
        let last =
            [run.lastOctets[.init(station: peer, peer: station)], beginning].compactMap { $0 }.max() ?? beginning
        // If this station sends a lot, the end of the subscription is queued behind that.
        let isCrowded = lastCrowd.map { $0 >= last.advanced(by: .seconds(7)) } ?? false
        // The subscription itself also takes some time.
        guard !isCrowded, run.world.now > last.advanced(by: .seconds(12)) else { return }
        fail(.fittingReason, "receiveMessage has been waiting without data since \(last)")
    }

    /// Checks every second whether frames are queued at this station, for as long as a card may take.
    private func watchQueue() {
        for second in 1...40 {
            run.world.schedule(at: run.world.now.advanced(by: .seconds(second))) { [self] in
                if run.runners[station].occupancy.waitingFrames > 0 { lastCrowd = run.world.now }
            }
        }
    }

    /// Waits for one card. It arrives complete, or the call throws.
    private func receiveCard(_ connection: Connection, _ deadline: Duration?) {
        guard let card = find(.card, on: connection), let peer = run.station(at: connection.address) else {
            return discover(connection, deadline)
        }
        // A user that joins an existing subscription may do so in the middle of a card.
        let isFirst =
            card.valueHandle == run.handle(of: .card, at: peer) && !run.pairings.isEverBonded(station, peer)
            && !run.users[station].contains { $0.isSubscribed(to: .card, of: peer) }
        if !run.hasSecurity { watchQueue() }
        start(.card, cancelledIn: deadline) { [self] _ throws(BluetoothError) in
            let subscription = Subscription(characteristic: .card, handle: card.valueHandle, station: peer)
            subscriptions.append(subscription)
            let beginning = run.world.now
            defer {
                ended(subscription)
                checkIdleTime(since: beginning, from: peer)
            }
            let bytes = try await connection.receiveMessage(
                from: card, idleTimeout: .seconds(8), timeLimit: .seconds(20))
            guard isFirst, !run.isTainted(station), !run.isTainted(peer) else { return }
            if !bytes.isEmpty, !SimulatedCard.isWhole(bytes) {
                fail(.wholeMessage, "a card of \(bytes.count) octets is incomplete")
            }
            run.cardCount += 1
        }
    }
}
