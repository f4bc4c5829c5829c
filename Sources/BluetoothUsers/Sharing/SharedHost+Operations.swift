import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost

/// Runs the GATT client operations of each link, and reports their results.
extension SharedHost {
    mutating func start(
        _ operation: GATTClientOperation, for purpose: PendingOperation.Purpose, _ slot: LinkSlot, at now: Instant
    ) {
        start(OperationScheduler.Operation(operation: operation, purpose: purpose), slot, at: now)
    }

    mutating func start(_ request: OperationScheduler.Operation, _ slot: LinkSlot, at now: Instant) {
        let operation = request.operation, purpose = request.purpose
        work.add(.waiting)
        links[slot.index].preparation.begin()
        if links[slot.index].caching.mayDelay(operation), waitsForHash(request, slot, at: now) { return }
        let findsAll: Bool
        switch operation {
        case .discoverPrimaryServices(nil), .discoverAll: findsAll = true
        default: findsAll = false
        }
        if operation.isDiscovery, let result = links[slot.index].caching.answer(to: operation) {
            work = .any
            if findsAll { learnServices(from: result, slot) }
            return succeeded(purpose, slot, result, at: now)
        }
        let lane = lane(of: operation, for: purpose, slot)
        guard let bearer = bearer(for: operation, lane, slot) else {
            return hold(request, for: .bearer(lane), slot, at: now)
        }
        do throws(HostError) {
            let identifier = try host.start(operation.whole, on: links[slot.index].identifier, bearer: bearer, at: now)
            work.add(host.consequence)
            links[slot.index].scheduler.begin(
                PendingOperation(
                    identifier: identifier, purpose: purpose, findsAllServices: findsAll, operation: operation,
                    isRepeatable: pairingAgent?.description.pairsOnDemand == true, lane: lane,
                    beginnings: request.beginnings, dropCount: links[slot.index].caching.dropCount))
        } catch {
            work = .any
            failed(purpose, slot, error, at: now)
        }
    }

    /// Holds an operation until it may start.
    mutating func hold(
        _ operation: OperationScheduler.Operation, for wait: OperationScheduler.Wait, _ slot: LinkSlot,
        at now: Instant
    ) {
        if links[slot.index].scheduler.hold(operation, for: wait) { return }
        failed(operation.purpose, slot, .client(.tooManyOperations), at: now)
    }

    mutating func operationEnded(_ event: GATTClientEvent, on link: LinkIdentifier, at now: Instant) {
        guard let slot = slot(of: link) else { return }
        // The end of the link follows, with its reason.
        if case .failed(_, .disconnected) = event { return }
        operationEnded(event, slot, at: now)
        beginHeldOperations(slot, at: now)
    }

    private mutating func operationEnded(_ event: GATTClientEvent, _ slot: LinkSlot, at now: Instant) {
        guard let operation = links[slot.index].scheduler.finish(event.operation) else { return }
        // A result other than a discovery's causes nothing but the end of its call.
        if case .completed(_, let result) = event, case .call(let call) = operation.purpose, !operation.isOutdated,
            !operation.operation.isDiscovery
        {
            return end(call, .success(.gatt(result)))
        }
        work = .any
        switch event {
        case .failed(_, let error) where error == .bearerClosed || error == .notBegun:
            if operation.isOutdated { return discoverAnew(operation, slot, at: now) }
            bearerClosed(operation, error, slot, at: now)
        case .failed(_, let error):
            if case .att(let refusal) = error, refusal.code == .databaseOutOfSync {
                servicesHaveChanged(in: 0x0001...0xFFFF, slot, at: now)
            }
            let error = operation.isOutdated ? .servicesChanged : HostError(error)
            if waitsForSecurity(operation, error, slot, at: now) { return }
            failed(operation.purpose, slot, error, at: now)
        case .completed(_, let result):
            if operation.isOutdated { return discoverAnew(operation, slot, at: now) }
            if operation.findsAllServices { learnServices(from: result, slot) }
            learnAttributes(from: result, of: operation, slot, at: now)
            succeeded(operation.purpose, slot, result.narrowed(to: operation.operation), at: now)
        }
    }

    private mutating func succeeded(
        _ purpose: PendingOperation.Purpose, _ slot: LinkSlot, _ result: GATTClientResult, at now: Instant
    ) {
        switch purpose {
        case .call(let call): end(call, .success(.gatt(result)))
        case .readiness: exchangeIsOver(slot)
        case .subscription(let handle): subscriptionStepped(handle, .success(result), slot, at: now)
        case .preparation: preparationStepped(.success(result), slot, at: now)
        case .databaseHash: hashRead(.success(result), slot, at: now)
        }
    }

    /// Handles an operation during which the peer's services changed, so that attributes it found may no longer exist
    /// (Core 5.4, Vol 3, Part G, 2.5.2). A discovery of all services starts again. Within a service, the caller must
    /// first find the service again.
    private mutating func discoverAnew(_ operation: PendingOperation, _ slot: LinkSlot, at now: Instant) {
        guard operation.operation.discoveredHandles == 0x0001...0xFFFF, operation.beginnings < Self.discoveryLimit
        else { return failed(operation.purpose, slot, .servicesChanged, at: now) }
        start(operation.again, slot, at: now)
    }

    /// How often a discovery may start. A peer whose services keep changing is not discovered indefinitely.
    private static let discoveryLimit: UInt8 = 4

    mutating func failed(
        _ purpose: PendingOperation.Purpose, _ slot: LinkSlot, _ error: HostError, at now: Instant
    ) {
        switch purpose {
        case .call(let call): end(call, .failure(error))
        // A server that does not support the request uses an ATT_MTU of 23 octets. If it does not respond, the link
        // ends.
        case .readiness: if error != .timedOut { exchangeIsOver(slot) }
        case .subscription(let handle): subscriptionStepped(handle, .failure(error), slot, at: now)
        case .preparation: preparationStepped(.failure(error), slot, at: now)
        case .databaseHash: hashRead(.failure(error), slot, at: now)
        }
    }
}

extension PendingOperation {
    /// The operation, to be started again.
    var again: OperationScheduler.Operation {
        OperationScheduler.Operation(operation: operation, purpose: purpose, beginnings: beginnings + 1)
    }
}

extension HostError {
    /// The error that a call ends with for an error of the client.
    init(_ error: GATTClientError) {
        switch error {
        case .cancelled: self = .cancelled
        case .transactionTimedOut: self = .timedOut
        default: self = .client(error)
        }
    }
}
