import BluetoothBase
import BluetoothGATT
import CoreBluetooth
import Foundation

/// The callbacks of peripherals.
extension DelegateUser: CBPeripheralDelegate {
    /// The peer of a callback, which must be connected.
    private func connected(_ peripheral: CBPeripheral, _ callback: String) -> DelegatePeer? {
        checkCentral(callback)
        guard let peer = peer(peripheral) else {
            fail(.application, "\(callback) was called for a released peripheral")
            return nil
        }
        if !peer.isConnected || peripheral.state != .connected {
            fail(.linkEvents, "\(callback) was called while \(peer.phase)")
        }
        return peer
    }

    private func ended(
        _ kind: DelegatePeer.Operation.Kind, _ object: AnyObject? = nil, of peripheral: CBPeripheral
    ) -> DelegatePeer? {
        guard let peer = connected(peripheral, "the end of \(kind.rawValue)") else { return nil }
        if !peer.end(kind, object) {
            fail(
                .endsOnce,
                "\(kind.rawValue) ended, but the pending operations are \(peer.operations.map(\.kind.rawValue))")
        }
        return peer
    }

    // MARK: - Discovery

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        guard let peer = ended(.services, of: peripheral), error == nil else { return }
        if peripheral.services == nil { fail(.application, "services is nil after their discovery") }
        for service in peripheral.services ?? [] where service.characteristics == nil || generator.oneIn(4) {
            call()
            peer.begin(.characteristics, service)
            peripheral.discoverCharacteristics(nil, for: service)
        }
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?) {
        guard let peer = ended(.characteristics, service, of: peripheral), error == nil else { return }
        let characteristics = service.characteristics ?? []
        // A service that is withdrawn during discovery is found in part. No one reports a change between a discovery
        // and the subscription to Service Changed (Vol 3, Part G, 7.1).
        let isTold = peer.unwatchedEpoch.map { $0 == run.epochs[peer.station] } ?? true
        let isThere = !isTainted(peer.station) && run.services[peer.station] != nil && isTold
        let isWhole = isThere && service.uuid == CBUUID(SimulatedService.uuid)
        if isWhole, characteristics.compactMap(\.simulated) != SimulatedService.Characteristic.allCases {
            fail(.application, "\(characteristics.count) characteristics were discovered: \(characteristics)")
        }
    }

    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverIncludedServicesFor service: CBService, error: (any Error)?
    ) {
        _ = ended(.includes, service, of: peripheral)
    }

    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverDescriptorsFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        _ = ended(.descriptors, characteristic, of: peripheral)
    }

    func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService]) {
        guard let peer = connected(peripheral, "didModifyServices") else { return }
        let left = peripheral.services ?? []
        if invalidatedServices.contains(where: { gone in left.contains { $0 === gone } }) {
            fail(.application, "services is not nil after the services were invalidated")
        }
        peer.forgetValues()
        peer.hasChanged = true
        peer.commandsLeft = 0
        peer.commands = nil
        if generator.oneIn(2) {
            call()
            peer.begin(.services, unwatchedEpoch: unwatchedEpoch(of: peer.station))
            peripheral.discoverServices(nil)
        }
    }

    /// Whether a peer's value may be visible on a link with the current protection.
    func maySee(_ kind: SimulatedService.Characteristic, _ peer: Int) -> Bool {
        kind != .locked || run.wasEncrypted(station, peer)
    }

    // MARK: - Results

    func peripheral(_ peripheral: CBPeripheral, didReadRSSI rssi: NSNumber, error: (any Error)?) {
        guard let peer = connected(peripheral, "didReadRSSI") else { return }
        peer.rssiReads -= 1
        if peer.rssiReads < 0 { fail(.endsOnce, "didReadRSSI was called without a request") }
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor descriptor: CBDescriptor, error: (any Error)?) {
        _ = ended(.read, descriptor, of: peripheral)
    }

    func peripheral(_ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: (any Error)?)
    {
        guard let peer = ended(.write, characteristic, of: peripheral), error == nil, !isTainted(peer.station),
            let kind = characteristic.simulated
        else { return }
        if [.stream, .constant, .card].contains(kind) || !maySee(kind, peer.station) {
            fail(.permission, "\(kind) was written without permission")
        }
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        guard let peer = ended(.notify, characteristic, of: peripheral) else { return }
        // Earlier values say nothing about those that follow.
        peer.forgetValues()
        guard error == nil, !isTainted(peer.station), let kind = characteristic.simulated else { return }
        let isAllowed = kind == .stream || kind == .card || kind == .locked && maySee(kind, peer.station)
        if characteristic.isNotifying, !isAllowed { fail(.permission, "\(kind) was subscribed to without permission") }
    }

    // MARK: - Values

    /// Distinguishes an error that reports lost values from the error of a read.
    private static let lossDescription = "Data from the peripheral was lost."

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?)
    {
        guard let kind = characteristic.simulated, kind == .stream || kind == .card else {
            return wasRead(characteristic, of: peripheral, error)
        }
        // These characteristics cannot be read: an error is the result of a read, or reports lost values.
        guard let error else {
            // A duplicated response from a broken device may count as the response to a read.
            if let peer = peer(peripheral), isTainted(peer.station), peer.isNext(.read, characteristic) {
                _ = peer.end(.read, characteristic)
            }
            return received(characteristic, kind, from: peripheral)
        }
        if error.localizedDescription != Self.lossDescription {
            return wasRead(characteristic, of: peripheral, error)
        }
        connected(peripheral, "didUpdateValue")?.forgetValues()
    }

    private func wasRead(_ characteristic: CBCharacteristic, of peripheral: CBPeripheral, _ error: (any Error)?) {
        let mayNotify = characteristic.simulated == .locked && run.hasSecurity
        let isNews =
            peer(peripheral).map { peer in
                guard mayNotify || isTainted(peer.station) else { return false }
                // While a read waits for its turn, a subscription may deliver values.
                let isSubscribed = characteristic.isNotifying || peer.awaits(.notify, characteristic)
                return isSubscribed ? !peer.isNext(.read, characteristic) : !peer.awaits(.read, characteristic)
            } ?? false
        if isNews || error?.localizedDescription == Self.lossDescription {
            _ = connected(peripheral, "didUpdateValue")
            return
        }
        guard let peer = ended(.read, characteristic, of: peripheral), error == nil, !isTainted(peer.station),
            let kind = characteristic.simulated
        else { return }
        let isAllowed = [.stored, .dynamic, .constant].contains(kind) || kind == .locked && maySee(kind, peer.station)
        if !isAllowed { return fail(.permission, "\(kind) was read without permission") }
        // Users of the other APIs also write octets that are not simulated values.
        guard let octets = characteristic.value.map({ [UInt8]($0) }), octets.count >= SimulatedValue.leastCount,
            octets[0] & 0xF0 == 0xA0
        else { return }
        let value = SimulatedValue(octets.span)
        // A value that is read in parts may be written in between, and a written value may have been modified in
        // transit.
        let isSure = octets.count <= 22 && kind != .locked || kind != .stored && kind != .locked
        if value == nil, isSure, run.anyTaintedStation == nil {
            fail(.valueOrder, "\(kind) is \(octets.prefix(16))…, which no station wrote")
        }
        if kind == .constant, value?.station != peer.station {
            fail(.valueOrder, "station \(peer.station) sent a value of station \(value?.station ?? -1)")
        }
    }

    private func received(
        _ characteristic: CBCharacteristic, _ kind: SimulatedService.Characteristic, from peripheral: CBPeripheral
    ) {
        guard let peer = connected(peripheral, "a value"), !isTainted(peer.station) else { return }
        // A subscription from an earlier link is restored with the bond. The response to a subscription may also have
        // been lost.
        let isRestored =
            run.pairings.isEverBonded(station, peer.station) || run.incomplete.contains(station)
            || run.incomplete.contains(peer.station) || peer.hasChanged
        if !characteristic.isNotifying, !isRestored {
            fail(.subscriptions, "a value of \(kind) arrived before its subscription")
        }
        // An app is not notified of lost values if it does not know that it is subscribed.
        if !characteristic.isNotifying { peer.received.noteLoss() }
        let octets = [UInt8](characteristic.value ?? Data())
        if kind == .card { return receivedChunk(octets.span, peer) }
        guard let value = SimulatedValue(octets.span), value.characteristic == .stream, value.station == peer.station
        else {
            return fail(
                .valueOrder, "\(octets.prefix(16))… arrived from station \(peer.station), which did not send it")
        }
        if !SimulatedValue.isWhole(octets.span) {
            fail(.valueOrder, "a value was truncated to \(octets.count) octets")
        }
        check(value, &peer.received)
    }

    /// Checks that a value follows the previous one.
    func check(_ value: SimulatedValue, _ received: inout StreamOrder) {
        let finding = received.take(value, mayMiss: run.mayMiss(value.stream, station, value.station))
        if let finding { fail(finding.rule, finding.text) }
    }

    private func receivedChunk(_ octets: Span<UInt8>, _ peer: DelegatePeer) {
        guard let progress = try? peer.card.receive(octets), case .complete(let card) = progress else { return }
        defer { peer.isCardWhole = true }
        // The beginning may have arrived before the subscription.
        guard peer.isCardWhole else { return }
        if !card.isEmpty, !SimulatedCard.isWhole(card) {
            fail(.wholeMessage, "a card of \(card.count) octets is incomplete")
        }
        run.cardCount += 1
    }

    // MARK: - Writes without response

    func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral) {
        guard let peer = connected(peripheral, "peripheralIsReady") else { return }
        peer.isAwaitingReady = false
        if !peripheral.canSendWriteWithoutResponse {
            fail(
                .application,
                "isReady(toSendWriteWithoutResponse:) was called, but canSendWriteWithoutResponse is false")
        }
        sendCommands(peer)
    }

    func sendCommands(_ peer: DelegatePeer) {
        let targets = peer.characteristics.filter { $0.simulated == .commands }
        guard let target = targets.last, peer.isConnected else { return peer.commandsLeft = 0 }
        while peer.commandsLeft > 0 {
            guard peer.peripheral.canSendWriteWithoutResponse else {
                peer.isAwaitingReady = true
                return
            }
            peer.commandsLeft -= 1
            var stream = peer.commands ?? UserLink.Stream(identifier: run.nextNumber())
            stream.last += 1
            peer.commands = stream
            let room = peer.peripheral.maximumWriteValueLength(for: .withoutResponse)
            let value = SimulatedValue(.commands, station: station, stream: stream.identifier, number: stream.last)
            call()
            peer.peripheral.writeValue(
                Data(value.bytes(count: generator.oneIn(2) ? min(20, room) : min(room, 200))), for: target,
                type: .withoutResponse)
        }
    }
}
