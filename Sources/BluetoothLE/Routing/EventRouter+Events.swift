import BluetoothUsers
import Synchronization
import BluetoothATT
import BluetoothAdapter
import BluetoothBase
import BluetoothGATT
import BluetoothHost

/// Routes the adapter's events. All of this runs on the adapter's thread.
extension EventRouter {
    func receive(_ batch: borrowing EventBatch) {
        var index = 0
        // Most turns contain nothing else.
        while index < batch.events.count, case .value(let link, let handle, _) = batch.events[index] {
            index = receivedValues(at: index, of: handle, on: link, batch) + 1
        }
        if index < batch.events.count { receive(batch, from: index) }
    }

    /// Routes the events from `start` on.
    @inline(never)
    private func receive(_ batch: borrowing EventBatch, from start: Int) {
        // Most events of a turn are about one link.
        var last: LinkState?
        var index = start
        while index < batch.events.count {
            defer { index += 1 }
            switch batch.events[index] {
            case .value(let link, let handle, _): index = receivedValues(at: index, of: handle, on: link, batch)
            case .subscriptionBegan(let identifier, let token): link(identifier)?.beginListening(token)
            case .sendCredit(let identifier, let count):
                if last?.identifier != identifier { last = link(identifier) }
                last?.credits.add(count)
            case .written(let identifier, let handle, let payload):
                if last?.identifier != identifier { last = link(identifier) }
                guard let last else { continue }
                guard let queue = receiver(of: handle) else {
                    log.unserved("a write without response", handle, by: last)
                    continue
                }
                guard let connection = connection(last) else { continue }
                queue.push(.written(Array(batch.octets(of: payload)), to: handle, by: connection))
            case .sightings(let token, let range):
                calls.sightings(of: token)?.push(batch.sightings, in: range)
            case .ended(let token, let result): ended(token, result)
            case .writeRequested(let request, let handle, let payload):
                let value = Array(batch.octets(of: payload))
                writeRequested(request, [IncomingWrite.Part(handle: handle, offset: 0, value: value)])
            case .executeRequested(let request, let writes): writeRequested(request, writes.parts)
            case .readRequested(let request, let handle, let offset): readRequested(request, handle, offset)
            case .authorizationRequested(let request, let handle, let access):
                authorizationRequested(request, handle, access)
            // A response that arrives after this is rejected.
            case .requestExpired(let request):
                if state.withLock({ !$0.receivers.isEmpty }) { log.unanswered(by: link(request.link)) }
            case .subscriptionChanged(let link, let change): subscriptionChanged(link, change)
            case .power(let identifier, let token, let event):
                link(identifier)?.state.withLock { $0.powerWatchers[token] }?.push(event)
            case .adapter(let status): changed(to: status)
            case .advertisingSetEnded(let token, let error): advertisingSetEnded(token, error)
            case .periodic(let sync, .report(let report)):
                handle(.report(report), of: sync, Array(batch.octets(of: report.data)))
            case .periodic(let sync, let event): handle(event, of: sync, [])
            case .subevents(let set, .response(let subevent, let slot, let report)):
                let data = Array(batch.octets(of: report.data))
                handle(.response(subevent: subevent, slot: slot, report), of: set, data)
            case .subevents(let set, let event): handle(event, of: set, [])
            case .channel(let identifier, .received(let channel, let payload, let share)):
                if last?.identifier != identifier { last = link(identifier) }
                let stream = last?.state.withLock { $0.channel(channel) }
                stream?.receive(batch.octets(of: payload), share: share)
            case .channel(let link, let event): handle(event, of: link)
            case .linkBegan(let link, let information):
                last = nil
                linkBegan(link, information)
            case .linkEnded(let link, let reason):
                last = nil
                linkEnded(link, reason)
            case .mtuChanged(let link, let mtu): mtuChanged(link, mtu)
            case .parametersChanged(let link, let parameters):
                self.link(link)?.state.withLock { $0.parameters = parameters }
            case .phyChanged(let link, let phys): self.link(link)?.state.withLock { $0.phys = phys }
            case .lost(let link, _): lost(on: link)
            case .nameChanged(let peer, let name): nameChanged(peer, name)
            case .servicesChanged(let link, let handles): servicesChanged(link, handles)
            case .securityChanged(let link, let security): securityChanged(link, security)
            case .pairingEnded(let link, let result): pairingEnded(link, result)
            case .pairingAsked(let link, let question): pairingAsked(link, question)
            case .pairingShown(let link, let display): pairingShown(link, display)
            case .bondRefused(let link, _): bondRefused(link)
            // A connection keeps its initial identity, and discovers services only on request.
            case .peerIdentified, .servicesKnown: continue
            }
        }
    }

    // MARK: - Calls

    private func ended(_ token: CallToken, _ result: Result<CallResult, HostError>) {
        let outcome = result.mapError { runner.error(for: $0) }
        switch calls.take(token) {
        case .suspended(let waiter, let publication):
            if let publication, case .success(.published(let handles)) = outcome { add(publication, [handles]) }
            if let publication, case .success(.publishedAll(let handles)) = outcome { add(publication, handles) }
            // Events of the channel may arrive before the caller continues.
            if case .success(.channels(let link, let opened)) = outcome {
                for channel in opened { add(channel.id, channel.information, of: link) }
            }
            if case .success(.sync(let sync, _)) = outcome { addSync(sync) }
            waiter.resume(returning: outcome)
        case .scan(let queue):
            if case .failure(let error) = outcome { queue.finish(error) }
        case .session(let queue, let tag):
            // A session ends with its link, and so do its operations.
            if case .failure(.disconnected) = result { return }
            if case .failure(.adapterRemoved) = result { return }
            queue.push(
                .ended(
                    tag,
                    outcome.flatMap {
                        if case .gatt(let result) = $0 { .success(result) } else { .failure(.cancelled) }
                    }))
        case .beginning, .cancelled, nil:
            // The cancellation came too late, so the result is undone.
            if case .success(.link(let link)) = result { post(.release(link)) }
            if case .success(.channels(let link, let opened)) = result {
                for channel in opened { post(.channel(link, .close(channel.id, isAbrupt: false))) }
            }
            if case .success(.sync(let sync, _)) = result { post(.sync(sync, .end)) }
            if case .success(.listening(let psm)) = result { post(.stopListening(psm)) }
            if case .success(.published(let handles)) = result { post(.withdraw(handles.declaration)) }
            if case .success(.publishedAll(let handles)) = result { post(.withdrawAll(handles.map(\.declaration))) }
        }
    }

    private func add(_ publication: PendingCalls.Publication, _ handles: [GATTServiceHandles]) {
        state.withLock { state in
            let characteristics = handles.flatMap(\.characteristics)
            for (index, characteristic) in characteristics.enumerated() where index < publication.queues.count {
                let receiver = Receiver(
                    queue: publication.queues[index], takesCommands: publication.takesCommands[index],
                    unconditional: publication.unconditional[index], isShared: publication.isShared)
                for handle in [characteristic.value] + characteristic.descriptors { state.receivers[handle] = receiver }
            }
        }
    }

    // MARK: - The adapter and its links

    private func changed(to status: AdapterStatus) {
        let waiting = state.withLock { state -> [CallToken] in
            state.status = status
            guard status == .ready else { return [] }
            defer { state.awaitingReadiness = [] }
            return state.awaitingReadiness
        }
        switch status {
        case .opening, .unavailable: return
        case .ready:
            log.ready()
            // Before waiting callers continue and start to listen: they must not receive an event for a state that they
            // already know.
            publish(.ready)
            for token in waiting { resume(token, .success(.done)) }
        case .resetting(let cause):
            log.resetting(cause)
            publish(.resetting(cause))
        case .lost:
            let error = runner.failure ?? .adapterRemoved
            log.lost(error)
            publish(.removed(error))
        case .closed: shutDown(runner.failure ?? .adapterClosed)
        }
    }

    func publish(_ event: AdapterEvent) {
        for observer in state.withLock({ $0.observers }) { observer.queue.push(event) }
    }

    private func linkBegan(_ identifier: LinkIdentifier, _ information: LinkInformation) {
        let link = state.withLock { state -> LinkState in
            let link = LinkState(identifier, information, name: state.names[information.peer])
            while state.places.count <= Int(identifier.slot) { state.places.append(.unused) }
            state.places[Int(identifier.slot)] = .link(link)
            return link
        }
        if let connection = connection(link) { publish(.connected(connection)) }
    }

    private func linkEnded(_ identifier: LinkIdentifier, _ reason: DisconnectReason) {
        guard let link = link(identifier) else { return }
        let error = runner.error(for: reason)
        state.withLock { state in
            // Another thread may have closed the adapter since the link was looked up.
            let slot = Int(link.identifier.slot)
            if slot < state.places.count { state.places[slot] = .ended(identifier, error) }
        }
        guard let rest = link.end(LinkState.End(reason: reason, error: error)) else { return }
        finish(link, rest, error)
        if let connection = connection(link) { publish(.disconnected(connection, reason)) }
    }

    private func mtuChanged(_ identifier: LinkIdentifier, _ mtu: Int) {
        guard let link = link(identifier) else { return }
        link.mtu = mtu
        for session in link.sessions { session.push(.mtuChanged(mtu)) }
    }

    private func lost(on identifier: LinkIdentifier) {
        guard let link = link(identifier) else { return }
        for listener in link.state.withLock({ $0.listeners }) { listener.queue.noteLoss() }
        for session in link.sessions { session.noteLoss() }
        for queue in receiversOfCommands {
            if let connection = connection(link) { queue.push(.dataLost(connection)) }
        }
    }

    private func servicesChanged(_ identifier: LinkIdentifier, _ handles: ClosedRange<AttributeHandle>) {
        guard let link = link(identifier) else { return }
        for listener in link.servicesChanged(in: handles) { listener.queue.finish(.servicesChanged) }
        for sender in link.credits.remove(in: handles) { sender.fail(.servicesChanged) }
        if let connection = connection(link) { publish(.servicesChanged(connection, handles)) }
    }

    private func nameChanged(_ peer: PeerID, _ name: String) {
        let links = state.withLock { state -> [LinkState] in
            state.names.set(name, of: peer)
            return state.places.compactMap(\.link).filter { $0.peer == peer }
        }
        for link in links {
            link.state.withLock { $0.name = name }
            if let connection = connection(link) { publish(.nameChanged(connection, name)) }
        }
    }

    // MARK: - Values

    /// Delivers a value, which is at `index`, and usually the values of the same characteristic that follow it. Returns
    /// the index of the last one.
    private func receivedValues(
        at index: Int, of handle: AttributeHandle, on identifier: LinkIdentifier, _ batch: borrowing EventBatch
    ) -> Int {
        guard let link = link(identifier) else { return index }
        // Usually there is one consumer.
        guard let queue = link.soleListener(of: handle) else {
            if case .value(_, _, let payload) = batch.events[index] {
                receivedBySeveral(Array(batch.octets(of: payload)), of: handle, on: link)
            }
            return index
        }
        var next = index
        while next < batch.events.count, case .value(identifier, handle, let payload) = batch.events[next] {
            let octets = batch.octets(of: payload)
            // A value that was handed over need not be counted. Its consumer may change who receives the next one.
            if queue.hand(octets) { return next }
            guard deliver(Array(octets), to: queue, link) else { return next }
            next += 1
            // Opened since, by another task.
            if link.hasSessions { break }
        }
        return next - 1
    }

    @inline(never)
    private func receivedBySeveral(_ value: [UInt8], of handle: AttributeHandle, on link: LinkState) {
        let (listeners, sessions) = link.receivers(of: handle)
        for listener in listeners { _ = deliver(value, to: listener, link) }
        for session in sessions { session.push(.value(value, of: handle)) }
    }

    /// Returns false if the queue's consumer has left.
    private func deliver(_ value: [UInt8], to queue: AsyncQueue<[UInt8]>, _ link: LinkState) -> Bool {
        let isOverflown = link.window.add(value.count, on: link.identifier) { post($0) }
        let isTaken = queue.push(value)
        if !isTaken { consumed(value, on: link) }
        if isOverflown { end(link) }
        return isTaken
    }

    /// Ends a link whose values arrive faster than their consumers take them.
    @inline(never)
    private func end(_ link: LinkState) {
        // Values that arrive before the link ends would follow a gap.
        for listener in link.state.withLock({ $0.listeners }) {
            listener.queue.finish(.disconnected(.consumerTooSlow))
        }
        post(.disconnect(link.identifier, reason: .consumerTooSlow))
    }

    /// Resumes the link if it was held until this value left its queue.
    func consumed(_ value: [UInt8], on link: LinkState) {
        link.window.remove(value.count, on: link.identifier) { post($0) }
    }

    // MARK: - The server

    private func receiver(of handle: AttributeHandle) -> AsyncQueue<CharacteristicEvent>? {
        state.withLock { $0.receivers[handle]?.queue }
    }

    /// The queues for values that peers write without a response. Only their consumers could mistake the remaining
    /// values for all of them after a loss.
    private var receiversOfCommands: [AsyncQueue<CharacteristicEvent>] {
        let receivers = state.withLock { $0.receivers.values.filter(\.takesCommands) }
        return receivers.reduce(into: []) { queues, receiver in
            if !queues.contains(where: { $0 === receiver.queue }) { queues.append(receiver.queue) }
        }
    }

    private func readRequested(_ request: ServerRequest, _ handle: AttributeHandle, _ offset: Int) {
        guard let link = link(request.link), let connection = connection(link) else { return post(refusing: request) }
        let event = IncomingRead(connection: connection, request: request, handle: handle, offset: offset)
        ask(.readRequested(event), receiver(of: handle), request) { log.unserved("a read", handle, by: link) }
    }

    private func authorizationRequested(_ request: ServerRequest, _ handle: AttributeHandle, _ access: GATTAccess) {
        guard let link = link(request.link), let connection = connection(link) else { return post(refusing: request) }
        let event = IncomingAuthorization(connection: connection, request: request, handle: handle, access: access)
        if let receiver = receiver(of: handle) {
            if receiver.push(.authorizationRequested(event)) { return }
        } else if state.withLock({ $0.keyMaterialRequests })?.push(event) == true {
            return
        }
        post(.refuse(request, .insufficientAuthorization))
        log.unserved("a request for consent", handle, by: link)
    }

    private func writeRequested(_ request: ServerRequest, _ parts: [IncomingWrite.Part]) {
        guard let link = link(request.link), let connection = connection(link) else { return post(refusing: request) }
        let event = IncomingWrite(connection: connection, request: request, parts: parts)
        // The first queued write may be for the server's own descriptor, which has no receiver.
        ask(.writeRequested(event), parts.lazy.compactMap { self.receiver(of: $0.handle) }.first, request) {
            log.unserved("a write", parts.first?.handle, by: link)
        }
    }

    /// Delivers a request to the application, or refuses it if it has no consumer.
    private func ask(
        _ event: CharacteristicEvent, _ receiver: AsyncQueue<CharacteristicEvent>?, _ request: ServerRequest,
        refused: () -> Void
    ) {
        guard receiver?.push(event) != true else { return }
        post(refusing: request)
        refused()
    }

    private func post(refusing request: ServerRequest) { post(.refuse(request, .unlikelyError)) }

    private func subscriptionChanged(_ identifier: LinkIdentifier, _ change: GATTSubscriptionChange) {
        guard let link = link(identifier) else { return }
        let handle = change.characteristic
        let old = link.state.withLock { state in
            let old = state.subscriptions[handle]
            state.subscriptions[handle] = change.new
            return old
        }
        let isNew = change.old.isEmpty && !change.new.isEmpty
        guard isNew || old != change.new, let connection = connection(link) else { return }
        let subscriber = Subscriber(connection: connection, characteristic: handle)
        let event: CharacteristicEvent =
            if change.isRestored {
                .subscriptionRestored(subscriber)
            } else if old.isEmpty || isNew {
                .subscribed(subscriber)
            } else if change.new.isEmpty {
                .unsubscribed(subscriber)
            } else {
                .subscriptionChanged(subscriber, to: change.new)
            }
        receiver(of: handle)?.push(event)
    }
}

extension GATTPreparedWrites {
    /// The queued writes as values, in order.
    var parts: [IncomingWrite.Part] {
        (0..<count).map { position in
            let value = value(at: position)
            return IncomingWrite.Part(handle: handle(at: position), offset: offset(at: position), value: Array(value))
        }
    }
}
