import BluetoothBase
import CoreBluetooth
import Foundation

/// The actions of a delegate user.
extension DelegateUser {
    func perform(_ action: Scenario.Action) {
        var pick = SeededGenerator(seed: action.pick)
        guard isAttached else {
            if action.kind == .join { join() }
            return
        }
        switch action.kind {
        case .advertise: advertise()
        case .stopAdvertising: stopAdvertising()
        case .scan: scan(&pick)
        case .stopScanning: stopScanning()
        case .connect: connect(&pick)
        case .publish: if services.count < 2 { addService() }
        case .withdraw: removeService(&pick)
        case .leave: if pick.oneIn(2) { leave() }
        case .join: registerForConnectionEvents(&pick)
        case .dawdle: answerDelay = [nil, .zero, .milliseconds(5), .milliseconds(800), .seconds(5)][pick.below(5)]
        case .hold: stall(for: .milliseconds(1 + pick.below([20, 500, 8_000][pick.below(3)])))
        case .resume: stall(for: .zero)
        case .notify, .indicate, .update, .card:
            guard let service = pick.element(of: services) else { return }
            service.backlog = min(400, service.backlog + [1, 8, 24, 100][pick.below(4)])
            sendUpdates(service)
        case .updateParameters: setLatency(&pick)
        case .cancel, .release, .disconnect, .discover, .read, .readLong, .readByUUID, .readMultiple, .write,
            .writeLong,
            .writeReliably, .writeCommands, .subscribe, .unsubscribe, .readRSSI:
            guard let peer = pick.element(of: peers) else { return }
            perform(action.kind, peer, &pick)
        case .useLocked:
            guard let peer = pick.element(of: peers.filter(\.isConnected)),
                let locked = pick.element(of: peer.characteristics.filter { $0.simulated == .locked })
            else { return }
            read(locked, peer)
        // CoreBluetooth has no such calls.
        case .pair, .beAgent, .beNoAgent, .removeBond, .cancelPairing, .endPairing, .configure, .useFormerLink,
            .dribble, .burst, .subscribeSlowly, .openChannel, .sendOverChannel, .closeChannel, .reconfigureChannel,
            .pauseChannel, .resumeChannel, .step, .advertiseSet, .stopSet,
            .advertiseTrain, .changeTrain, .stopTrain, .synchronize, .endSync, .tellOfTrain, .acceptTrains,
            .advertiseSubevents, .connectInSubevent:
            return
        }
    }

    private func perform(_ kind: Scenario.Action.Kind, _ peer: DelegatePeer, _ pick: inout SeededGenerator) {
        switch kind {
        case .cancel, .disconnect:
            cancel(peer)
            // Connecting again immediately starts a new attempt.
            if pick.oneIn(3) { connect(peer, isReconnecting: pick.oneIn(4)) }
        case .release: if pick.oneIn(2) { cancel(peer) } else { peers.removeAll { $0 === peer } }
        default:
            guard peer.isConnected else { return connect(peer, isReconnecting: pick.oneIn(4)) }
            use(peer, kind, &pick)
        }
    }

    // MARK: - As a central

    private func connect(_ pick: inout SeededGenerator) {
        let station = (station + 1 + pick.below(run.world.stationCount - 1)) % run.world.stationCount
        guard let central, central.state == .poweredOn else { return }
        if let known = peers.first(where: { $0.station == station }) {
            return connect(known, isReconnecting: pick.oneIn(4))
        }
        guard peers.count < 4 else { return }
        call()
        guard let peripheral = central.retrievePeripherals(withIdentifiers: [identifier(of: station)]).first else {
            return fail(.application, "retrievePeripherals does not return the peripheral at station \(station)")
        }
        connect(take(peripheral, at: station), isReconnecting: pick.oneIn(4))
    }

    func stopScanning() {
        guard let central, central.state == .poweredOn else { return }
        call()
        central.stopScan()
        if central.isScanning { fail(.application, "isScanning is true after stopScan") }
    }

    private func registerForConnectionEvents(_ pick: inout SeededGenerator) {
        guard let central, central.state == .poweredOn else { return }
        call()
        central.registerForConnectionEvents(options: pick.oneIn(2) ? [:] : nil)
    }

    private func use(_ peer: DelegatePeer, _ kind: Scenario.Action.Kind, _ pick: inout SeededGenerator) {
        let peripheral = peer.peripheral
        switch kind {
        case .discover: discover(peer, &pick)
        case .read, .readLong: if let one = pick.element(of: peer.characteristics) { read(one, peer) }
        case .readByUUID:
            let descriptors = peer.characteristics.flatMap { $0.descriptors ?? [] }
            guard let one = pick.element(of: descriptors) else { return discover(peer, &pick) }
            call()
            peer.begin(.read, one)
            peripheral.readValue(for: one)
        case .readMultiple:
            for _ in 0..<3 { if let one = pick.element(of: peer.characteristics) { read(one, peer) } }
        case .write, .writeLong: write(peer, &pick)
        case .writeReliably: for _ in 0..<3 { write(peer, &pick) }
        case .writeCommands:
            peer.commandsLeft = min(400, peer.commandsLeft + [1, 8, 24, 100][pick.below(4)])
            if !peer.isAwaitingReady { sendCommands(peer) }
        case .subscribe, .unsubscribe:
            let wanted: [SimulatedService.Characteristic] = [.stream, .stream, .card, .card, .locked, .stored]
            let chosen = wanted[pick.below(wanted.count)]
            guard let one = pick.element(of: peer.characteristics.filter { $0.simulated == chosen }) else { return }
            call()
            peer.begin(.notify, one)
            peripheral.setNotifyValue(kind == .subscribe, for: one)
        default:
            call()
            peer.rssiReads += 1
            peripheral.readRSSI()
        }
    }

    private func discover(_ peer: DelegatePeer, _ pick: inout SeededGenerator) {
        call()
        switch pick.below(3) {
        case 0:
            peer.begin(.services, unwatchedEpoch: unwatchedEpoch(of: peer.station))
            peer.peripheral.discoverServices(
                pick.oneIn(2) ? nil : [CBUUID(SimulatedService.uuid), CBUUID(DelegateService.uuid)])
        case 1:
            guard let service = pick.element(of: peer.peripheral.services ?? []) else { return }
            peer.begin(.includes, service)
            peer.peripheral.discoverIncludedServices(nil, for: service)
        default:
            guard let characteristic = pick.element(of: peer.characteristics) else { return }
            peer.begin(.descriptors, characteristic)
            peer.peripheral.discoverDescriptors(for: characteristic)
        }
    }

    private func read(_ characteristic: CBCharacteristic, _ peer: DelegatePeer) {
        call()
        peer.begin(.read, characteristic)
        peer.peripheral.readValue(for: characteristic)
    }

    private func write(_ peer: DelegatePeer, _ pick: inout SeededGenerator) {
        guard let characteristic = pick.element(of: peer.characteristics) else { return }
        let value = SimulatedValue(
            characteristic.simulated ?? .stored, station: station, stream: 0, number: run.nextNumber())
        call()
        peer.begin(.write, characteristic)
        let bytes = value.bytes(count: [10, 20, 20, 100, 300, 512][pick.below(6)])
        // The write may happen at any time from now on, so its result does not tell which service it reached.
        if characteristic.simulated == .stored { _ = run.beginWrite(bytes, to: peer.station) }
        peer.peripheral.writeValue(Data(bytes), for: characteristic, type: .withResponse)
    }

    // MARK: - As a peripheral

    func advertise() {
        guard let server, server.state == .poweredOn else { return }
        call()
        startsToCome += 1
        if queue.isSuspended { unawareStarts += 1 }
        isAdvertisingWanted = true
        server.startAdvertising([
            CBAdvertisementDataServiceUUIDsKey: [CBUUID(SimulatedService.uuid)],
            CBAdvertisementDataLocalNameKey: "app \(station)",
        ])
        inSomeSeconds { $0.stopAdvertising() }
    }

    func stopAdvertising() {
        guard let server, server.state == .poweredOn else { return }
        call()
        isAdvertisingWanted = false
        server.stopAdvertising()
        if server.isAdvertising { fail(.application, "isAdvertising is true after stopAdvertising") }
    }

    func addService() {
        guard let server, server.state == .poweredOn else { return }
        let service = DelegateService(of: station)
        services.append(service)
        call()
        server.add(service.service)
    }

    private func removeService(_ pick: inout SeededGenerator) {
        guard let server, server.state == .poweredOn, let service = pick.element(of: services), !service.isRemoved
        else { return }
        call()
        service.isRemoved = true
        service.isAwaitingReady = false
        server.remove(service.service)
        // A service that is still being added gets its callback nevertheless.
        if !service.isPending { services.removeAll { $0 === service } }
    }

    private func setLatency(_ pick: inout SeededGenerator) {
        guard let server, server.state == .poweredOn,
            let central = pick.element(of: services.flatMap { $0.stream.subscribedCentrals ?? [] })
        else { return }
        call()
        server.setDesiredConnectionLatency([.low, .medium, .high][pick.below(3)], for: central)
    }
}
