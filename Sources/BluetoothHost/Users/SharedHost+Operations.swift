import BluetoothATT
import BluetoothBase
import BluetoothGATT

/// The GATT client of each link, and the callers of its operations.
extension SharedHost {
    mutating func start(
        _ operation: GATTClientOperation, for purpose: PendingOperation.Purpose, _ slot: Int, at now: Instant
    ) {
        links[slot].usesClient = true
        let findsAll: Bool
        switch operation {
        case .discoverPrimaryServices(nil), .discoverAll: findsAll = true
        default: findsAll = false
        }
        do throws(HostError) {
            let identifier = try host.start(operation, on: links[slot].identifier, at: now)
            links[slot].operations.append(
                PendingOperation(
                    identifier: identifier, purpose: purpose, findsAllServices: findsAll,
                    repeatable: pairingAgent?.description.pairsOnDemand == true ? operation : nil))
        } catch {
            failed(purpose, slot, error, at: now)
        }
    }

    mutating func operationEnded(_ event: GATTClientEvent, on link: LinkIdentifier, at now: Instant) {
        guard let slot = slot(of: link),
            // They end in order, except for cancelled ones.
            let index = links[slot].operations.firstIndex(where: { $0.identifier == event.operation })
        else { return }
        switch event {
        // The end of the link follows, with its reason.
        case .failed(_, .disconnected): return
        case .failed(_, let error):
            let operation = links[slot].operations.remove(at: index)
            let error = HostError(error)
            if raisesSecurity(operation, error, slot, at: now) { return }
            failed(operation.purpose, slot, error, at: now)
        case .completed(_, let result):
            let operation = links[slot].operations.remove(at: index)
            if operation.findsAllServices { learnServices(from: result, slot) }
            switch operation.purpose {
            case .call(let call): end(call, .success(.gatt(result)))
            case .readiness: exchangeIsOver(slot)
            case .subscription(let handle): subscriptionStepped(handle, .success(result), slot, at: now)
            case .preparation: preparationStepped(.success(result), slot, at: now)
            }
        }
    }

    mutating func failed(
        _ purpose: PendingOperation.Purpose, _ slot: Int, _ error: HostError, at now: Instant
    ) {
        switch purpose {
        case .call(let call): end(call, .failure(error))
        // A server without this request uses 23 octets. One that does not answer has lost the link.
        case .readiness: if error != .timedOut { exchangeIsOver(slot) }
        case .subscription(let handle): subscriptionStepped(handle, .failure(error), slot, at: now)
        case .preparation: preparationStepped(.failure(error), slot, at: now)
        }
    }

    /// The link of an operation is gone.
    mutating func abandon(_ operation: PendingOperation, _ error: HostError) {
        if case .call(let call) = operation.purpose { end(call, .failure(error)) }
    }
}

extension HostError {
    /// An error of the client that ends a call.
    init(_ error: GATTClientError) {
        switch error {
        case .cancelled: self = .cancelled
        case .transactionTimedOut: self = .timedOut
        default: self = .client(error)
        }
    }
}
