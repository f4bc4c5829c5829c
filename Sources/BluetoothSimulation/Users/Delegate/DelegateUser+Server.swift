import BluetoothBase
import CoreBluetooth
import Foundation

/// The callbacks of the peripheral manager.
extension DelegateUser: CBPeripheralManagerDelegate {
    func peripheralManagerDidUpdateState(_ manager: CBPeripheralManager) {
        guard manager === server else { return fail(.application, "a deallocated manager reported its state") }
        note(manager.state, isServer: true)
        guard manager.state == .poweredOn else { return serverOff(manager) }
        guard !isCalm else { return }
        if generator.oneIn(2) { addService() }
        if isAdvertisingAgain || generator.oneIn(4) { advertise() }
    }

    private func serverOff(_ manager: CBPeripheralManager) {
        if manager.isAdvertising { fail(.application, "isAdvertising is true without an adapter") }
        if startsToCome > unawareStarts {
            fail(.endsOnce, "the start of advertising is still pending after the adapter was removed")
        }
        for service in services {
            if service.isPending {
                fail(.endsOnce, "the addition of a service is still pending after the adapter was removed")
            }
            if !(service.stream.subscribedCentrals ?? []).isEmpty {
                fail(.subscriptions, "subscribers still exist after the adapter was removed")
            }
        }
        isAdvertisingAgain = isAdvertisingWanted
        isAdvertisingWanted = false
        // Below `.poweredOff`, the application must add its services again.
        services = []
        wasRefused = false
        requests = []
    }

    func peripheralManagerDidStartAdvertising(_ manager: CBPeripheralManager, error: (any Error)?) {
        checkServer("didStartAdvertising")
        startsToCome -= 1
        unawareStarts = min(unawareStarts, startsToCome)
        if startsToCome < 0 { fail(.endsOnce, "didStartAdvertising was called without a request") }
        guard startsToCome == 0 else { return }
        if error != nil { isAdvertisingWanted = manager.isAdvertising }
        if isAdvertisingWanted != manager.isAdvertising {
            fail(.application, "isAdvertising is \(manager.isAdvertising) after the start")
        }
    }

    func peripheralManager(_ manager: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
        checkServer("didAdd")
        guard let added = services.first(where: { $0.service === service }) else {
            return fail(.endsOnce, "didAdd was called for a service that was not added, or was removed")
        }
        if !added.isPending { fail(.endsOnce, "didAdd was called twice") }
        added.isPending = false
        if error != nil || added.isRemoved { services.removeAll { $0 === added } }
    }

    // MARK: - Subscriptions

    func peripheralManager(
        _ manager: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic
    ) {
        guard subscription(characteristic, "didSubscribe") != nil else { return }
        if !((characteristic as? CBMutableCharacteristic)?.subscribedCentrals ?? []).contains(where: { $0 === central })
        {
            fail(.subscriptions, "a central subscribed, but is not in subscribedCentrals")
        }
    }

    func peripheralManager(
        _ manager: CBPeripheralManager, central: CBCentral, didUnsubscribeFrom characteristic: CBCharacteristic
    ) {
        guard subscription(characteristic, "didUnsubscribe") != nil else { return }
        if ((characteristic as? CBMutableCharacteristic)?.subscribedCentrals ?? []).contains(where: { $0 === central })
        {
            fail(.subscriptions, "a central unsubscribed, but is still in subscribedCentrals")
        }
    }

    /// The service whose subscribers have changed. Its stream of values starts over.
    private func subscription(_ characteristic: CBCharacteristic, _ callback: String) -> DelegateService? {
        checkServer(callback)
        guard let service = services.first(where: { $0.kind(of: characteristic) != nil }) else {
            fail(.application, "\(callback) was called for a characteristic that is not published")
            return nil
        }
        if service.stream !== characteristic, !run.hasSecurity {
            fail(.permission, "a central subscribed without the required encryption")
        }
        if service.stream === characteristic { service.sending = nil }
        return service
    }

    func peripheralManagerIsReady(toUpdateSubscribers manager: CBPeripheralManager) {
        checkServer("peripheralManagerIsReady")
        if !wasRefused { fail(.application, "isReady(toUpdateSubscribers:) was called, but no update was refused") }
        wasRefused = false
        for service in services where service.isAwaitingReady {
            service.isAwaitingReady = false
            sendUpdates(service)
        }
    }

    func sendUpdates(_ service: DelegateService) {
        guard let server, server.state == .poweredOn, !service.isAwaitingReady else { return }
        while service.backlog > 0 {
            let subscribers = service.stream.subscribedCentrals ?? []
            guard !subscribers.isEmpty else { return service.backlog = 0 }
            var stream = service.sending ?? UserLink.Stream(identifier: run.nextNumber())
            stream.last += 1
            let room = subscribers.map(\.maximumUpdateValueLength).min() ?? 20
            let value = SimulatedValue(.stream, station: station, stream: stream.identifier, number: stream.last)
            call()
            let octets = value.bytes(count: generator.oneIn(2) ? min(20, room) : room)
            guard server.updateValue(Data(octets), for: service.stream, onSubscribedCentrals: nil) else {
                service.isAwaitingReady = true
                wasRefused = true
                return
            }
            service.sending = stream
            service.backlog -= 1
        }
    }

    // MARK: - Requests

    func peripheralManager(_ manager: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        checkServer("didReceiveRead")
        guard let kind = services.lazy.compactMap({ $0.kind(of: request.characteristic) }).first else {
            return fail(.application, "a central read a characteristic that is not published")
        }
        if kind != .stored, kind != .locked || !isEncrypted(request.central) {
            fail(.permission, "a central read \(kind) without permission")
        }
        answer(request)
    }

    func peripheralManager(_ manager: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        checkServer("didReceiveWrite")
        guard let first = requests.first else {
            return fail(.application, "didReceiveWrite was called without requests")
        }
        for request in requests {
            guard let service = services.first(where: { $0.kind(of: request.characteristic) != nil }),
                let kind = service.kind(of: request.characteristic)
            else { return fail(.application, "a central wrote to a characteristic that is not published") }
            let isAllowed = kind == .stored || kind == .commands || kind == .locked && isEncrypted(request.central)
            if !isAllowed { fail(.permission, "a central wrote \(kind) without permission") }
            if kind == .commands { wasCommanded(request, service) }
            guard kind == .stored, let value = request.value, request.offset <= service.stored.count else { continue }
            service.stored = service.stored.prefix(request.offset) + value
        }
        answer(first)
    }

    private func isEncrypted(_ central: CBCentral) -> Bool {
        station(of: central.identifier).map { run.wasEncrypted(station, $0) } ?? false
    }

    private func wasCommanded(_ request: CBATTRequest, _ service: DelegateService) {
        guard let central = station(of: request.central.identifier) else {
            return fail(.application, "a write arrived from an address that no station has")
        }
        let octets = [UInt8](request.value ?? Data())
        // Further parts of a long value may contain anything.
        guard request.offset == 0, !isTainted(central), let value = SimulatedValue(octets.span), value.stream != 0
        else { return }
        if !SimulatedValue.isWhole(octets.span) {
            fail(.valueOrder, "a written value was truncated to \(octets.count) octets")
        }
        if value.station != central {
            fail(.valueOrder, "station \(central) wrote a value of station \(value.station)")
        }
        check(value, &service.received)
    }

    private func answer(_ request: CBATTRequest) {
        if answerDelay == .zero { return respond(to: request) }
        requests.append(request)
        guard let answerDelay else { return }
        run.world.schedule(at: run.world.now.advanced(by: answerDelay)) { [self] in
            guard let index = requests.firstIndex(where: { $0 === request }) else { return }
            requests.remove(at: index)
            respond(to: request)
        }
    }

    func respond(to request: CBATTRequest) {
        guard let server else { return }
        call()
        guard !generator.oneIn(12), let service = services.first(where: { $0.kind(of: request.characteristic) != nil })
        else { return server.respond(to: request, withResult: .unlikelyError) }
        guard request.offset <= service.stored.count else {
            return server.respond(to: request, withResult: .invalidOffset)
        }
        if request.value == nil { request.value = service.stored.dropFirst(request.offset) }
        server.respond(to: request, withResult: .success)
    }
}
