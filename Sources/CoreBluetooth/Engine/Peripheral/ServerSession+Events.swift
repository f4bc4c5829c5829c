import BluetoothLE
import Foundation

/// What centrals do with the services of this application, and what they are answered.
extension ServerSession {
    func handle(_ event: CharacteristicEvent) async {
        switch event {
        case .subscribed(let subscriber):
            let central = await link(to: subscriber.connection)
            central.subscribers[subscriber.characteristic] = subscriber
            tell(of: central, subscriber.characteristic) { manager, central, characteristic in
                characteristic.$centrals.withLock { if !$0.contains(central) { $0.append(central) } }
                manager.delegate?.peripheralManager(manager, central: central, didSubscribeTo: characteristic)
            }
        case .unsubscribed(let subscriber):
            let central = await link(to: subscriber.connection)
            central.subscribers[subscriber.characteristic] = nil
            // With a reset of the adapter it is the manager's state that tells.
            guard await !subscriber.connection.wasLostWithAdapter else { return }
            tell(of: central, subscriber.characteristic) { manager, central, characteristic in
                let wasSubscribed = characteristic.$centrals.withLock { centrals in
                    defer { centrals.removeAll { $0 == central } }
                    return centrals.contains(central)
                }
                guard wasSubscribed else { return }
                manager.delegate?.peripheralManager(manager, central: central, didUnsubscribeFrom: characteristic)
            }
        case .readRequested(let request):
            let central = await link(to: request.connection)
            tell(of: central, request.handle, refusal: .read(request)) { manager, central, characteristic in
                let request = CBATTRequest(
                    central, characteristic, offset: request.offset, value: nil, answer: .read(request))
                manager.delegate?.peripheralManager(manager, didReceiveRead: request)
            }
        case .writeRequested(let request):
            await written(
                request.parts.map { ($0.handle, $0.offset, $0.value) }, by: request.connection, .write(request))
        case .written(let value, let handle, let connection):
            await written([(handle, 0, value)], by: connection, .unneeded)
        }
        await delivery.room()
    }

    private func written(
        _ parts: [(AttributeHandle, Int, [UInt8])], by connection: Connection, _ answer: PendingAnswer
    ) async {
        let central = await link(to: connection)
        let (identifier, address, length) = (central.identifier, connection.peer, central.length)
        tell { [self] manager in
            // Among the parts of a queue may be some for the stack's own descriptors.
            let parts = parts.compactMap { handle, offset, value in
                manager.published[handle].map { ($0, offset, Data(value)) }
            }
            guard let delegate = manager.delegate, !parts.isEmpty else { return refuse(answer) }
            let central = manager.central(identifier, address, length: length)
            let requests = parts.enumerated().map { index, part in
                CBATTRequest(
                    central, part.0, offset: part.1, value: part.2, answer: index == 0 ? answer : nil)
            }
            delegate.peripheralManager(manager, didReceiveWrite: requests)
        }
    }

    /// Tells the application what a central did with a characteristic.
    ///
    /// - Parameter refusal: what is refused where there is nobody to tell.
    private func tell(
        of central: CentralLink, _ handle: AttributeHandle, refusal: PendingAnswer = .unneeded,
        _ body: @escaping (CBPeripheralManager, CBCentral, CBMutableCharacteristic) -> Void
    ) {
        let (identifier, address, length) = (central.identifier, central.connection.peer, central.length)
        tell { [self] manager in
            guard let characteristic = manager.published[handle], manager.delegate != nil else {
                return refuse(refusal)
            }
            body(manager, manager.central(identifier, address, length: length), characteristic)
        }
    }

    /// What is known of the central at the other end of a link.
    private func link(to connection: Connection) async -> CentralLink {
        if let known = centrals[connection.peer], known.connection == connection { return known }
        let central = CentralLink(connection, environment.identities.identifier(for: connection.peer))
        centrals[connection.peer] = central
        let (identifier, address) = (central.identifier, connection.peer)
        let isLinked = await central.watchLength { [weak self] length in
            self?.tell { _ = $0.central(identifier, address, length: length) }
        }
        // What it did last is told, and nothing of it kept.
        if !isLinked, centrals[address] === central { centrals[address] = nil }
        return central
    }

    // MARK: - Answering

    /// Refuses where there is nobody to ask.
    private nonisolated func refuse(_ answer: PendingAnswer) {
        BluetoothEngine.run { [self] in await respond(answer, [], .unlikelyError) }
    }

    func respond(_ answer: PendingAnswer, _ value: [UInt8], _ result: CBATTError.Code) async {
        let refusal = ATTErrorCode(rawValue: UInt8(truncatingIfNeeded: result.rawValue))
        // Where this fails the central has left, or has given up.
        switch answer {
        case .read(let request):
            if result == .success {
                // Nobody can ask for more than an attribute's value can be long.
                try? await request.respond(rest: Array(value.prefix(GATTAttributeValue.maximumLength)))
            } else {
                try? await request.refuse(refusal)
            }
        case .write(let request):
            if result == .success { try? await request.accept() } else { try? await request.refuse(refusal) }
        case .unneeded: return
        }
    }

    // MARK: - Sending

    func send(_ update: Update, to addresses: [DeviceAddress]) {
        for address in addresses {
            guard let handle = handles[update.characteristic], let central = centrals[address] else {
                sent()
                continue
            }
            central.send(update, at: handle) { [weak self] in self?.sent() }
        }
    }

    private func sent() {
        tell { manager in
            guard manager.$updates.withLock({ $0.sent() }) else { return }
            manager.delegate?.peripheralManagerIsReady(toUpdateSubscribers: manager)
        }
    }

    func setLatency(_ latency: CBPeripheralManagerConnectionLatency, for address: DeviceAddress) {
        let intervals: (Int, Int)
        switch latency {
        case .low: intervals = (15, 30)
        case .medium: intervals = (60, 120)
        case .high: intervals = (300, 500)
        }
        centrals[address]?.ask(
            for: ConnectionParameters(
                minimumInterval: .milliseconds(intervals.0), maximumInterval: .milliseconds(intervals.1),
                supervisionTimeout: .seconds(6)))
    }
}

extension Connection {
    /// Whether the link has ended because the adapter was reset, or is gone.
    fileprivate var wasLostWithAdapter: Bool {
        get async {
            do throws(BluetoothError) {
                _ = try await mtu
                return false
            } catch {
                return error == .adapterRemoved || error == .adapterClosed || error == .disconnected(.adapterReset)
            }
        }
    }
}
