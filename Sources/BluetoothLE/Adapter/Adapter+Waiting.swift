import BluetoothBase
import BluetoothGATT
import BluetoothHCI
import BluetoothHost

/// What a suspended call waits for.
enum Awaited: Hashable, Sendable {
    case ready
    case advertising(Int)
    case connection(ConnectionAttempt)
    case request(LinkIdentifier, RequestIdentifier)
    case operation(LinkIdentifier, GATTClient.OperationID)
    /// Room in a link's send queue.
    case room(LinkIdentifier, Int)
    /// One's turn to send an indication.
    case turn(LinkIdentifier, Int)
    /// The confirmation of an indication.
    case confirmation(LinkIdentifier, Int)
    case disconnection(LinkIdentifier, Int)

    /// The link without which there is nothing to wait for.
    var link: LinkIdentifier? {
        switch self {
        case .ready, .advertising, .connection: nil
        case .request(let link, _), .operation(let link, _), .room(let link, _), .turn(let link, _),
            .confirmation(let link, _), .disconnection(let link, _):
            link
        }
    }
}

/// What the event a call waits for brings.
enum Answer: Sendable {
    case done
    case link(LinkIdentifier)
    case rssi(Int8)
    case gatt(GATTClientResult)
    case reason(DisconnectReason)
}

typealias Waiter = CheckedContinuation<Result<Answer, BluetoothError>, Never>

extension Adapter {
    /// Why a link cannot be used, where that is so.
    func checkOpen(_ link: LinkIdentifier) throws(BluetoothError) {
        try checkOpen()
        guard links[link] != nil else { throw (endings[link] ?? .unknown).error }
    }

    func makeNumber() -> Int {
        nextNumber += 1
        return nextNumber
    }

    /// Suspends the calling task until the event comes. When the task is cancelled it ends at once, after `abandon`
    /// has called off what it waited for.
    @discardableResult
    func wait(
        for awaited: Awaited, abandon: @escaping @Sendable (isolated Adapter) -> Void = { _ in }
    ) async throws(BluetoothError) -> Answer {
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (waiter: Waiter) in waiters[awaited] = waiter }
        } onCancel: {
            Task { await self.cancel(awaited, abandon) }
        }
        return try result.get()
    }

    private func cancel(_ awaited: Awaited, _ abandon: @Sendable (isolated Adapter) -> Void) {
        guard waiters[awaited] != nil else { return }
        abandon(self)
        resume(awaited, with: .failure(.cancelled))
    }

    /// Resumes the call that waits for this, if there still is one. Taking it out is the only way to get at it, so it is
    /// resumed exactly once.
    func resume(_ awaited: Awaited, with result: Result<Answer, BluetoothError>) {
        waiters.removeValue(forKey: awaited)?.resume(returning: result)
    }

    /// Ends every call that waits for something of this sort.
    func resumeAll(where isMeant: (Awaited) -> Bool, with result: Result<Answer, BluetoothError>) {
        for awaited in waiters.keys.filter(isMeant) { resume(awaited, with: result) }
    }
}
