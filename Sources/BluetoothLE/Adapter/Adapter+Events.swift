import BluetoothGATT
import BluetoothHost

/// What the host tells, handed on to who waits for it.
extension Adapter {
    func handle(_ event: HostEvent) {
        switch event {
        case .controller(let event): handle(event)
        case .advertisement(let advertisement): advertisementReceived(advertisement)
        case .link(let link, let event): handle(event, of: link)
        case .client(let link, let event): handle(event, of: link)
        case .server(let link, let event): handle(event, of: link)
        }
    }

    private func handle(_ event: HostEvent.Controller) {
        switch event {
        case .ready: controllerIsReady()
        case .resetting(let cause):
            // One that is away is not there to be reset, for all that anybody was told.
            if case .open = state { publish(.resetting("\(cause)")) }
        case .failed(let failure): controllerLost(.adapter(failure))

        case .scanningFailed(let error): scanningFailed(error)
        case .advertisingStarted: resumeAdvertising(with: .success(.done))
        case .advertisingFailed(let error): resumeAdvertising(with: .failure(.host(error)))
        case .connectionFailed(let attempt, let error):
            resume(.connection(attempt), with: .failure(BluetoothError(error)))
        }
    }

    private func handle(_ event: HostEvent.Link, of link: LinkIdentifier) {
        switch event {
        case .connected(let attempt): linkConnected(link, attempt)
        case .disconnected(let status): linkDisconnected(link, DisconnectReason(status))
        case .parametersChanged, .lost, .peerIdentified: return  // `Connection.parameters` asks the host.
        case .mtuChanged(let mtu): links[link]?.sessions.tell(.mtuChanged(mtu))
        case .rssiRead(let request, let rssi): resumeRequest(request, with: .success(.rssi(rssi)))
        case .requestCompleted(let request): resumeRequest(request, with: .success(.done))
        case .requestFailed(_, .noSuchLink), .requestFailed(_, .controllerReset), .requestFailed(_, .notReady):
            return  // The link is lost: told by `disconnected`, with its reason.
        case .requestFailed(let request, let error):
            resumeRequest(request, with: .failure(BluetoothError(error)))
        case .readyToSend:
            resumeAll(
                where: {
                    if case .room(link, _) = $0 { true } else { false }
                }, with: .success(.done))
        }
    }

    private func handle(_ event: HostEvent.Client, of link: LinkIdentifier) {
        switch event {
        case .notification(let handle, let payload), .indication(let handle, let payload):
            valueReceived(link, handle, Array(host.events.bytes(of: payload)))
        case .operationEnded(.completed(let operation, let result)):
            operationEnded(link, operation, .success(result))
        case .operationEnded(.failed(let operation, let error)):
            // A lost link is told by `disconnected`, with its reason.
            guard error != .disconnected else { return }
            operationEnded(link, operation, .failure(BluetoothError(error)))
        }
    }

    private func handle(_ event: HostEvent.Server, of link: LinkIdentifier) {
        switch event {
        case .valueWritten(let handle, let payload):
            valueWritten(link, handle, Array(host.events.bytes(of: payload)))
        case .readRequested(let request, let handle, let offset): readRequested(request, handle, offset)
        case .writeRequested(let request, let handle, let payload):
            let value = Array(host.events.bytes(of: payload))
            writeRequested(request, [WriteRequest.Part(handle: handle, offset: 0, value: value)])
        case .executeRequested(let request, let writes): writeRequested(request, writes.parts)
        case .requestExpired: return  // An answer that still comes is refused by the host.
        case .subscriptionChanged(let change): subscriptionChanged(link, change)
        case .indicationConfirmed: indicationConfirmed(link)
        }
    }

    private func resumeRequest(_ request: RequestIdentifier, with result: Result<Answer, BluetoothError>) {
        resumeAll(
            where: {
                if case .request(_, request) = $0 { true } else { false }
            }, with: result)
    }
}

extension BluetoothError {
    init(_ error: HostError) {
        switch error {
        case .timedOut: self = .timedOut
        case .cancelled: self = .cancelled
        case .noSuchLink: self = .disconnected(.unknown)
        case .client(let error): self.init(error)
        default: self = .host(error)
        }
    }

    init(_ error: GATTClientError) {
        switch error {
        case .att(let error): self = .att(error)
        case .cancelled: self = .cancelled
        case .transactionTimedOut: self = .timedOut
        case .valueTooLong(let maximum): self = .valueTooLong(maximum: maximum)
        case .disconnected, .invalidResponse, .tooManyOperations, .invalidHandleCount: self = .gatt(error)
        }
    }
}
