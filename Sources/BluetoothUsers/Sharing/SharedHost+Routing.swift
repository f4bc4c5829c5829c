import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost

/// Routes the host's events to the users that they concern.
extension SharedHost {
    /// Handles the host's events, in order.
    mutating func drain(at now: Instant) {
        // The events are split into groups and consumed. Otherwise, each event would be copied more than once.
        // Checking first costs less than taking nothing.
        while !host.events.isEmpty, let event = host.events.take() {
            switch consume event {
            case .client(let link, let event): route(event, of: link, at: now)
            case .advertisement(let advertisement): received(advertisement, at: now)
            case .link(let link, let event): route(event, of: link, at: now)
            case .server(let link, let event): route(event, of: link, at: now)
            case .channel(let link, let event): route(event, of: link, at: now)
            case .security(let link, let event): route(event, of: link, at: now)
            case .bondChanged(let bond): bondRequests.append(.kept(bond))
            case .bondMade(let made): bondRequests.append(.made(made))
            case .bondVoid(let bond): bondRequests.append(.removed(bond, request: nil))
            case .controller(let event): route(event, at: now)
            case .periodic(let sync, let event): route(event, of: sync, at: now)
            case .subevents(let set, let event): route(event, of: set)
            }
        }
    }

    @inline(__always)
    private mutating func route(_ event: consuming HostEvent.Client, of link: LinkIdentifier, at now: Instant) {
        switch consume event {
        case .notification(let handle, let payload): received(payload, of: handle, on: link, at: now)
        case .indication(let handle, let payload):
            received(payload, of: handle, on: link, at: now)
            // The host must handle Service Changed even if a user has subscribed to it as well.
            if let slot = slot(of: link), host.isServiceChanged(handle, of: link),
                links[slot.index].subscriptions.index(of: handle) != nil
            {
                servicesHaveChanged(payload, slot, at: now)
            }
        case .operationEnded(let end): operationEnded(end, on: link, at: now)
        }
    }

    private mutating func route(_ event: HostEvent.Controller, at now: Instant) {
        switch event {
        case .ready:
            status = .ready
            tellAll(.adapter(.ready))
            retryAdvertising(at: now)
        case .resetting(let cause):
            // A controller that was never ready is still opening, even after resets.
            guard status == .ready else { return }
            status = .resetting(cause)
            tellAll(.adapter(status))
        case .failed(let failure): controllerFailure = failure  // The opener of the controller reports its loss.
        case .scanningFailed(let error): scanningFailed(error)
        case .advertisingStarted(.shared): advertisingStarted()
        case .advertisingFailed(.shared, let error): advertisingFailed(error, at: now)
        case .advertisingEnded(.shared): advertisingEnded(at: now)
        case .advertisingStarted(let handle): setStarted(handle)
        case .advertisingFailed(let handle, let error): setFailed(handle, error)
        case .advertisingEnded(let handle): setEnded(handle)
        case .connectionFailed(let attempt, let error): connectionFailed(attempt, error, at: now)
        }
    }

    private mutating func route(_ event: HostEvent.Link, of link: LinkIdentifier, at now: Instant) {
        switch event {
        case .connected(let attempt): linkBegan(link, attempt, at: now)
        case .disconnected(let status):
            linkEnded(link, self.status == .lost ? .adapterRemoved : DisconnectReason(status), at: now)
        case .phyChanged(let phys): tellAll(.phyChanged(link, phys))
        case .parametersChanged(let parameters): tellAll(.parametersChanged(link, parameters))
        case .mtuChanged(let mtu):
            guard let slot = slot(of: link), links[slot.index].mtu != mtu else { return }
            links[slot.index].mtu = mtu
            tellAll(.mtuChanged(link, mtu))
        case .rssiRead(let request, let rssi): requestEnded(request, on: link, .success(.rssi(rssi)))
        case .transmitPowerRead(let request, let power):
            requestEnded(request, on: link, .success(.transmitPower(power)))
        case .power(let event): powerReported(event, on: link)
        case .requestCompleted(let request): requestEnded(request, on: link, .success(.done))
        case .requestFailed(let request, let error): requestEnded(request, on: link, .failure(error))
        case .readyToSend: return  // Credits report this.
        case .lost(let loss): tellAll(.lost(link, loss))
        case .peerIdentified(let peer):
            connects.rename { [host] in host.lastingPeer(of: $0) }
            renamePeersOfScans()
            tellAll(.peerIdentified(link, peer))
            reconcileConnecting(at: now)
        }
    }

    private mutating func route(_ event: HostEvent.Server, of link: LinkIdentifier, at now: Instant) {
        switch event {
        case .valueWritten(let handle, let payload):
            guard let owner = services.owner(of: handle) else { return }
            tell(.written(link, handle, payload), to: owner)
        case .readRequested(let request, let handle, let offset):
            ask(.readRequested(request, handle, offset: offset), services.owner(of: handle), request)
        case .writeRequested(let request, let handle, let payload):
            ask(.writeRequested(request, handle, payload), services.owner(of: handle), request)
        case .executeRequested(let request, let writes):
            // The first queued write may be for a descriptor that the server itself owns.
            let owner = (0..<writes.count).lazy.compactMap { [services] in services.owner(of: writes.handle(at: $0)) }
            ask(.executeRequested(request, writes), owner.first, request)
        case .authorizationRequested(let request, let handle, let access):
            let event = UserEvent.authorizationRequested(request, handle, access)
            // Among attributes that belong to no user, only the key material requires consent.
            ask(event, services.owner(of: handle) ?? keyMaterialUser, request, refusal: .insufficientAuthorization)
        case .requestExpired(let request):
            tellAll(.requestExpired(request))
        case .subscriptionChanged(let change): subscriptionChanged(change, on: link)
        case .indicationConfirmed: indicationConfirmed(on: link, at: now)
        }
    }

    /// Delivers a request to the user that published the attribute. Refuses the request if no user did.
    private mutating func ask(
        _ event: UserEvent, _ owner: UserID?, _ request: ServerRequest, refusal: ATTErrorCode = .unlikelyError
    ) {
        if let owner { return tell(event, to: owner) }
        // This fails only if the request has ended in the meantime.
        try? host.refuse(request, with: refusal)
    }

    private mutating func subscriptionChanged(_ change: GATTSubscriptionChange, on link: LinkIdentifier) {
        guard let slot = slot(of: link), let owner = services.owner(of: change.characteristic) else { return }
        links[slot.index].peerSubscriptions[change.characteristic] = change.new
        tell(.subscriptionChanged(link, change), to: owner)
    }

    /// Handles a notified value, like `drain(at:)`.
    @inline(__always)
    mutating func received(_ value: HostEventQueue.Notification, at now: Instant) {
        received(value.payload, of: value.handle, on: value.link, at: now)
    }

    /// Delivers a value to the users subscribed to it, or to all users if there is no subscription.
    @inline(__always)
    private mutating func received(
        _ payload: Payload, of handle: AttributeHandle, on link: LinkIdentifier, at now: Instant
    ) {
        guard let slot = slot(of: link) else { return }
        let event = UserEvent.value(link, handle, payload)
        guard
            let index = links[slot.index].subscriptions.settledIndex(of: handle)
                ?? unsettledSubscription(to: handle, slot, at: now)
        else { return unclaimed(event, handle, slot, at: now) }
        tellPending()
        // There is usually only one user.
        if users.count == 1 { return users[0].events.append(event) }
        if let user = links[slot.index].subscriptions.soleUser(at: index) {
            if let user = self.index(of: user) { users[user].events.append(event) }
            return
        }
        for user in users.indices where links[slot.index].subscriptions.concerns(users[user].user, at: index) {
            users[user].events.append(event)
        }
    }

    private mutating func unclaimed(
        _ event: UserEvent, _ handle: AttributeHandle, _ slot: LinkSlot, at now: Instant
    ) {
        if host.isServiceChanged(handle, of: links[slot.index].identifier), case .value(_, _, let payload) = event {
            return servicesHaveChanged(payload, slot, at: now)
        }
        tellAll(event)
    }

    private mutating func requestEnded(
        _ request: RequestIdentifier, on link: LinkIdentifier, _ result: Result<CallResult, HostError>
    ) {
        guard let slot = slot(of: link),
            let index = links[slot.index].requests.firstIndex(where: { $0.identifier == request })
        else { return }
        // Calls that end together with their link receive the reason for its end.
        if case .failure(.noSuchLink) = result { return }
        if case .failure(.controllerReset) = result { return }
        if case .failure(.notReady) = result { return }
        let call = links[slot.index].requests.remove(at: index).call
        if case .failure = result { powerReportsRefused(call, slot) }
        end(call, result)
    }
}
