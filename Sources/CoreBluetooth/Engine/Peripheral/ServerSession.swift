import BluetoothATT
import BluetoothAdapter
import BluetoothGATT
import BluetoothHost
import BluetoothUsers
import Foundation

/// An event for a peripheral manager.
enum ServerEvent {
    case restored([String: Any])
    case state(CBManagerState, Attachment?)
    case added(ServiceDefinition, GATTServiceHandles?, (any Error)?, isAgain: Bool)
    case refused(CBMutableService, CBError)
    /// - Parameter generation: how often advertising had been stopped when this was requested; nil for the
    ///   advertisement of an earlier run.
    case advertising(generation: UInt64?, (any Error)?)
    case subscriptionChanged(CentralLink, GATTSubscriptionChange, mtu: Int)
    case readRequested(CentralLink, ServerRequest, AttributeHandle, offset: Int, mtu: Int)
    case written(CentralLink, [WrittenPart], PendingAnswer, mtu: Int)
    case mtuChanged(CentralLink, Int)
    case readyToUpdate(CentralLink)
    case channelPublished(CBL2CAPPSM, (any Error)?)
    case channelUnpublished(CBL2CAPPSM, (any Error)?)
    case channelOpened(CentralLink, ChannelPipe, mtu: Int)
}

/// One part of a central's write.
struct WrittenPart {
    let handle: AttributeHandle
    let offset: Int
    let value: Data
}

/// A peripheral manager's use of its adapter.
final class ServerSession: ManagerSession<ServerEvent, ServerState>, @unchecked Sendable {
    // Unchecked: like its superclass.

    let manager = WeakReference<CBPeripheralManager>()

    override var publishesProtectedValues: Bool {
        manager.object?.$published.withLock { $0.values.contains { $0.needsEncryption } } ?? false
    }

    /// The current links.
    private(set) var centrals: [LinkIdentifier: CentralLink] = [:]
    /// The PSMs of the channels that are published.
    var channels: Set<CBL2CAPPSM> = []
    /// The services that are published or, while the adapter is off, will be published again.
    var services: [Service] = []
    /// The services that are about to be withdrawn.
    private(set) var unwanted: Set<ObjectIdentifier> = []
    /// The services whose withdrawal waits for the last service that includes them.
    private(set) var leaving: Set<ObjectIdentifier> = []
    /// The advertisement, on the air while the adapter is on.
    var wantedAdvertisement: WantedAdvertisement?
    /// The token of the advertisement.
    private var advertising: (attachment: Attachment, token: CallToken)?
    /// The calls that change the database and the advertisement, in order.
    private let line = CallLine<Item>()
    private var isMoving = false
    private var asking: [CentralLink] = []

    struct Service {
        let definition: ServiceDefinition
        var handles: GATTServiceHandles?

        var identifier: ObjectIdentifier { ObjectIdentifier(definition.service) }
    }

    enum Item {
        /// - Parameter isAgain: whether this was reported to the application before.
        case publish(ServiceDefinition, Attachment, isAgain: Bool)
        case refuse(CBMutableService, CBError)
        case withdraw([ObjectIdentifier])
        case advertise(WantedAdvertisement, Attachment, generation: UInt64?)
        case stopAdvertising
    }

    override func begin() { restore() }

    override func deliverEvents() -> InboxScheduling {
        // Without `consume`, each event would be copied.
        inbox.deliver { (event: consuming ServerEvent, _) in
            handle(consume event)
            return 1
        }
    }

    override func stop() {
        super.stop()
        _ = line.removeAll()
        lock.withLock { services = [] }
    }

    // MARK: - Recording events, with the lock held

    override func take(_ state: CBManagerState, _ attachment: Attachment?) {
        if attachment == nil {
            for central in centrals.values {
                central.lease.close()
                central.pipes.endAll()
            }
            (centrals, channels) = ([:], [])
        }
        inbox.append(.state(state, attachment))
    }

    override func take(eventAt position: Int, of batch: borrowing EventBatch, _ attachment: Attachment) {
        switch batch.events[position] {
        case .sendCredit(let identifier, let count):
            guard let central = centrals[identifier] else { return }
            if central.lease.add(count, wakingAt: ManagedLink.readyCount) { inbox.append(.readyToUpdate(central)) }
        case .written(let identifier, let handle, let payload):
            guard let central = central(identifier, payload.count) else { return }
            central.hasWrittenCommands = true
            let part = WrittenPart(handle: handle, offset: 0, value: Data(batch.octets(of: payload)))
            inbox.append(.written(central, [part], .unneeded, mtu: central.mtu))
        case .readRequested(let request, let handle, let offset):
            guard let central = central(request.link, 0) else { return }
            inbox.append(.readRequested(central, request, handle, offset: offset, mtu: central.mtu))
        case .writeRequested(let request, let handle, let payload):
            guard let central = central(request.link, payload.count) else { return }
            let part = WrittenPart(handle: handle, offset: 0, value: Data(batch.octets(of: payload)))
            inbox.append(.written(central, [part], .write(request, attachment), mtu: central.mtu))
        case .executeRequested(let request, let writes):
            let parts = (0..<writes.count).map {
                WrittenPart(
                    handle: writes.handle(at: $0), offset: writes.offset(at: $0), value: Data(writes.value(at: $0)))
            }
            guard let central = central(request.link, parts.reduce(0) { $0 + $1.value.count }) else { return }
            inbox.append(.written(central, parts, .write(request, attachment), mtu: central.mtu))
        case .subscriptionChanged(let identifier, let change):
            // The manager's state reports a reset of the adapter.
            guard let central = centrals[identifier], !batch.endsWithAdapter(identifier) else { return }
            // The end of a subscription is always reported. The ends need no limit, since they are never more than the
            // beginnings.
            guard change.new.isEmpty || self.central(identifier, 0) != nil else { return }
            inbox.append(.subscriptionChanged(central, change, mtu: central.mtu))
        case .linkBegan(let identifier, let information):
            centrals[identifier] = CentralLink(identifier, information, attachment)
        case .linkEnded(let identifier, _):
            guard let central = centrals.removeValue(forKey: identifier) else { return }
            central.lease.close()
            central.pipes.endAll()
            // An application that waits for credits of this link can continue.
            inbox.append(.readyToUpdate(central))
        case .mtuChanged(let identifier, let mtu):
            guard let central = centrals[identifier] else { return }
            central.mtu = mtu
            inbox.append(.mtuChanged(central, mtu))
        case .lost(let identifier, let loss):
            guard let central = centrals[identifier] else { return }
            reportFailure("data from the central \(central.peer) was lost: \(loss)")
            // No callback can report the gap, and the application would take a part of a message for the whole.
            if central.hasWrittenCommands { central.end(nil) }
        case .channel(let identifier, .opened(let id, let information)):
            guard let central = centrals[identifier] else { return }
            let pipe = central.pipes.add(id, information, on: identifier, attachment)
            inbox.append(.channelOpened(central, pipe, mtu: central.mtu))
        case .channel(let identifier, let event): centrals[identifier]?.pipes.take(event, of: batch)
        case .ended(let token, let result):
            if let call = attachment.take(token) { ended(call, result) }
        case .authorizationRequested, .adapter, .advertisingSetEnded, .periodic, .subevents, .sightings, .bondRefused,
            .parametersChanged, .phyChanged, .power, .peerIdentified, .nameChanged, .servicesKnown, .servicesChanged,
            .value, .subscriptionBegan, .requestExpired, .securityChanged, .pairingEnded, .pairingAsked, .pairingShown:
            return
        }
    }

    /// The central of a request that may wait for the application. If it may not, the link ends.
    private func central(_ identifier: LinkIdentifier, _ count: Int) -> CentralLink? {
        guard let central = centrals[identifier], central.admits(count) else { return nil }
        return central
    }

    private func ended(_ call: PendingCall, _ result: Result<CallResult, HostError>) {
        switch call {
        case .publish(let wanted, let isAgain):
            var handles: GATTServiceHandles?
            if case .success(.published(let found)) = result { handles = found }
            let identifier = ObjectIdentifier(wanted.service)
            services.removeAll { $0.identifier == identifier && handles == nil }
            if let index = services.firstIndex(where: { $0.identifier == identifier }) {
                services[index].handles = handles
            } else if handles != nil {
                services.append(Service(definition: wanted, handles: handles))
            }
            inbox.append(.added(wanted, handles, result.error, isAgain: isAgain))
        case .advertise(let wanted, let generation):
            if case .success = result { wantedAdvertisement = wanted } else { advertising = nil }
            inbox.append(.advertising(generation: generation, result.error))
        case .publishChannel: return channelPublished(result)
        case .updateParameters(let central): return asking.append(central)
        case .scan, .connect, .cancel, .operation, .answered, .rssi:
            preconditionFailure("a peripheral makes no such call")
        }
        line.ended()
        isMoving = true
        keeper?.changed()
    }

    override func turnEnded() {
        let (isMoving, asking) = lock.withLock {
            defer { (self.isMoving, self.asking) = (false, []) }
            return (self.isMoving, self.asking)
        }
        if isMoving { run() }
        for central in asking { central.ask(for: nil) }
    }

    // MARK: - Requests of the application

    func perform(_ item: Item) {
        if case .withdraw(let identifiers) = item {
            lock.withLock { unwanted.formUnion(identifiers) }
            keeper?.changed()
        } else if case .stopAdvertising = item {
            lock.withLock { wantedAdvertisement = nil }
            keeper?.changed()
        }
        line.add(item)
        run()
    }

    /// Sends a value to all of these centrals, or to none if a link has no credit. Returns whether it was sent.
    func update(_ value: Data, at handle: AttributeHandle, to centrals: [CBCentral]) -> Bool {
        if let full = centrals.firstIndex(where: { !$0.link.lease.take() }) {
            for central in centrals[..<full] where central.link.lease.add(1) { post(.readyToUpdate(central.link)) }
            return false
        }
        // Truncating a value costs more than copying it.
        let isCut = value.count > GATTAttributeValue.maximumLength
        let octets = isCut ? value.prefix(GATTAttributeValue.maximumLength).octets : value.octets
        for central in centrals {
            central.link.attachment.post(.update(central.link.identifier, handle, octets))
        }
        return true
    }

    private func run() { line.run { start($0) } }

    private func start(_ item: Item) -> CallLine<Item>.Step {
        switch item {
        case .publish(let wanted, let attachment, let isAgain): return publish(wanted, attachment, isAgain)
        case .refuse(let service, let error): post(.refused(service, error))
        case .withdraw(let identifiers):
            let gone = lock.withLock {
                leaving.formUnion(identifiers)
                let staying = services.filter { !leaving.contains($0.identifier) }
                let ready = leaving.subtracting(staying.flatMap(\.definition.included))
                defer {
                    services.removeAll { ready.contains($0.identifier) }
                    unwanted.subtract(identifiers)
                    leaving.formIntersection(services.map(\.identifier))
                }
                return (services.filter { ready.contains($0.identifier) }.compactMap(\.handles), attachment)
            }
            if !gone.0.isEmpty { gone.1?.post(.withdrawAll(gone.0.map(\.declaration))) }
            keeper?.changed()
        case .advertise(let wanted, let attachment, let generation):
            // In one step, because the end of the power cycle may come at any time.
            let (isFirst, token) = lock.withLock { () -> (Bool, CallToken?) in
                guard advertising == nil else { return (false, nil) }
                let token = attachment.register(.advertise(wanted, generation: generation))
                advertising = token.map { (attachment, $0) }
                return (true, token)
            }
            if let token {
                attachment.post(.advertise(wanted.request), token: token)
                return .waits
            }
            post(.advertising(generation: generation, CBError(isFirst ? .unknown : .alreadyAdvertising)))
        case .stopAdvertising:
            let ended = lock.withLock {
                defer { (wantedAdvertisement, advertising) = (nil, nil) }
                return advertising
            }
            if let ended { ended.attachment.post(.cancel, token: ended.token) }
            keeper?.changed()
        }
        return .goesOn
    }

    private func publish(
        _ wanted: ServiceDefinition, _ attachment: Attachment, _ isAgain: Bool
    ) -> CallLine<Item>.Step {
        var definition = wanted.definition
        let isWanted = lock.withLock {
            let includes = wanted.included.compactMap { included in
                services.first { $0.identifier == included }?.handles?.declaration
            }
            definition.includes += includes
            // A service being republished may have been removed meanwhile.
            return !isAgain || services.contains { $0.identifier == ObjectIdentifier(wanted.service) }
        }
        guard isWanted else { return .goesOn }
        guard definition.includes.count == wanted.included.count else {
            post(.added(wanted, nil, CBError(.invalidParameters), isAgain: isAgain))
            return .goesOn
        }
        if attachment.begin(.publish(wanted, isAgain: isAgain), .publish(definition, at: nil)) { return .waits }
        post(.added(wanted, nil, CBError(.unknown), isAgain: isAgain))
        return .goesOn
    }

    // MARK: - Power cycles of the adapter

    /// Ends a power cycle. All pending requests are void, and reported as failed.
    ///
    /// - Parameter keepsServices: whether the services will be published again.
    func cycleEnded(_ attachment: Attachment?, keepsServices: Bool) {
        let pending = attachment?.end() ?? []
        lock.withLock {
            services = keepsServices ? services.map { Service(definition: $0.definition) } : []
            (unwanted, leaving) = ([], [])
            (advertising, wantedAdvertisement) = (nil, nil)
        }
        keeper?.changed()
        for call in pending {
            switch call {
            case .publish(let wanted, let isAgain):
                handle(.added(wanted, nil, CBError(.unknown), isAgain: isAgain))
            case .advertise(_, let generation): handle(.advertising(generation: generation, CBError(.unknown)))
            case .publishChannel: handle(.channelPublished(0, CBError(.unknown)))
            case .updateParameters: continue
            case .scan, .connect, .cancel, .operation, .answered, .rssi:
                preconditionFailure("a peripheral makes no such call")
            }
        }
        // Requests that have not started also belong to the ended power cycle.
        for item in line.removeAll() {
            switch item {
            case .publish(let wanted, _, isAgain: false):
                handle(.added(wanted, nil, CBError(.unknown), isAgain: false))
            case .refuse(let service, let error): handle(.refused(service, error))
            case .advertise(_, _, let generation): handle(.advertising(generation: generation, CBError(.unknown)))
            case .withdraw(let identifiers):
                lock.withLock { services.removeAll { identifiers.contains($0.identifier) } }
            case .publish, .stopAdvertising: continue
            }
        }
        if !pending.isEmpty { line.ended() }
        run()
    }

    /// Publishes the services again.
    func publishAgain(through attachment: Attachment) {
        for service in lock.withLock({ services }) { perform(.publish(service.definition, attachment, isAgain: true)) }
    }
}

extension EventBatch {
    /// Whether a link ended because of the adapter.
    fileprivate func endsWithAdapter(_ link: LinkIdentifier) -> Bool {
        events.contains {
            switch $0 {
            case .linkEnded(link, .adapterReset), .linkEnded(link, .adapterRemoved): true
            default: false
            }
        }
    }
}
