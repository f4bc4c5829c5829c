import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost

/// Prepares links, and handles changes of the peers' services.
extension SharedHost {
    /// Takes steps until one has to wait for the peer. A step whose result is already known sends no request, so
    /// nothing else would trigger the next step.
    @inline(__always)
    mutating func prepare(_ slot: LinkSlot, at now: Instant) {
        if links[slot.index].preparation.isWaiting { takeSteps(slot, at: now) }
    }

    @inline(never)
    private mutating func takeSteps(_ slot: LinkSlot, at now: Instant) {
        while links[slot.index].readiness.isReady, links[slot.index].readiness.mayAsk,
            links[slot.index].scheduler.isIdle,
            status == .ready,
            let operation = links[slot.index].preparation.nextOperation()
        {
            start(operation, for: .preparation, slot, at: now)
        }
    }

    mutating func preparationStepped(
        _ result: Result<GATTClientResult, HostError>, _ slot: LinkSlot, at now: Instant
    ) {
        let isDiscovering = links[slot.index].scheduler.operations.contains { $0.operation.isDiscovery }
        let caching = links[slot.index].caching
        let effects = links[slot.index].preparation.stepped(result, caching, isDiscovering: isDiscovering)
        for effect in effects {
            switch effect {
            case .learned(let name): learn(name, slot)
            case .watched: perform(links[slot.index].caching.useFound(cachingContext(slot)), slot, at: now)
            case .foundServiceChanged(let handle):
                host.serviceChangedFound(handle, of: links[slot.index].identifier)
            case .watchesServiceChanged: host.serviceChangedWatched(on: links[slot.index].identifier)
            case .verifyAttributes: perform(links[slot.index].caching.verifyAfterSubscribing(), slot, at: now)
            case .servicesChanged(let handles, let services):
                servicesHaveChanged(in: handles, slot, at: now)
                links[slot.index].preparation.servicesChanged(to: services)
            case .over:
                tellServices(slot)
                perform(links[slot.index].caching.verify(), slot, at: now)
            }
        }
    }

    /// Records discovered services, including those that users discovered.
    mutating func learnServices(from result: GATTClientResult, _ slot: LinkSlot) {
        if links[slot.index].preparation.learn(result) { tellServices(slot) }
    }

    private mutating func tellServices(_ slot: LinkSlot) {
        guard let services = links[slot.index].preparation.services else { return }
        tellAll(.servicesKnown(links[slot.index].identifier, services))
    }

    private mutating func learn(_ name: String, _ slot: LinkSlot) {
        let peer = links[slot.index].peer
        if names.set(name, of: peer) { tellAll(.nameChanged(peer, name)) }
        host.keepName(name, of: links[slot.index].identifier)
    }

    /// Handles a Service Changed value: the first and the last affected handle.
    mutating func servicesHaveChanged(_ payload: Payload, _ slot: LinkSlot, at now: Instant) {
        guard payload.count == 4 else { return }
        let octets = (0..<4).map { UInt16(host.events.storage[payload.start + $0]) }
        let first = AttributeHandle(octets[0] | octets[1] << 8)
        let last = AttributeHandle(octets[2] | octets[3] << 8)
        servicesHaveChanged(in: min(first, last)...max(first, last), slot, at: now)
    }

    /// Discards everything known about the attributes within these handles, and notifies the users.
    mutating func servicesHaveChanged(in handles: ClosedRange<AttributeHandle>, _ slot: LinkSlot, at now: Instant) {
        work = .any
        links[slot.index].serviceChanges.add(handles)
        perform(links[slot.index].caching.drop(), slot, at: now)
        perform(links[slot.index].subscriptions.invalidate(in: handles), slot, at: now)
        invalidateOperations(in: handles, slot)
        links[slot.index].preparation.servicesChanged(to: nil)
        tellAll(.servicesChanged(links[slot.index].identifier, handles))
    }
}
