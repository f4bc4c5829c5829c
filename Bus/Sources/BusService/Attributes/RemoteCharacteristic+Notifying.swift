import BluetoothGATT
import BluetoothHost
import BluetoothUsers
import BusObjects
import DBus

extension RemoteCharacteristic {
    /// `StartNotify`. Without a link, the values begin with the next one.
    func startNotify(_ call: MethodCall) throws(BusError) {
        guard notifyPipe == nil, !isAcquiring else { throw .notPermitted("Notify acquired") }
        guard canNotify else { throw .notSupported }
        if sessions.contains(call.sender) {
            if case .starting = subscription { throw .inProgress }
            return call.reply()
        }
        // The client's death ends the session.
        _ = try device.daemon.client(of: call)
        sessions.insert(call.sender)
        switch subscription {
        case .active:
            if sessions.count == 1 { changed("Notifying") }
            call.reply()
        case .none where device.link.identifier == nil: call.reply()
        case .none, .starting: subscribe(.notify(call))
        }
    }

    private var isAcquiring: Bool {
        guard case .starting(_, let starts, _) = subscription else { return false }
        return starts.contains { if case .acquire = $0 { true } else { false } }
    }

    func stopNotify(_ call: MethodCall) throws(BusError) {
        if notifyPipe != nil {
            notifyPipe = nil
            changed("NotifyAcquired")
            unsubscribeIfUnused()
            return call.reply()
        }
        guard sessions.contains(call.sender) else { throw .failed("No notify session started") }
        stopNotifying(call.sender)
        call.reply()
    }

    /// Ends a client's session.
    func stopNotifying(_ sender: String) {
        let wasNotifying = isNotifying
        guard sessions.remove(sender) != nil else { return }
        if case .starting(let token, let starts, let isSent) = subscription {
            for start in starts where start.call.sender == sender { start.call.fail(.failed("Operation failed")) }
            subscription = .starting(token, starts.filter { $0.call.sender != sender }, isSent: isSent)
        }
        if wasNotifying, !isNotifying { changed("Notifying") }
        unsubscribeIfUnused()
    }

    // MARK: - The subscription

    /// Subscribes again, on a new link or because the services have changed, for the clients that had not stopped.
    func resubscribe() {
        guard case .none = subscription, !sessions.isEmpty || notifyPipe != nil else { return }
        subscribe(nil)
    }

    func subscribe(_ start: Start?) {
        guard let link = device.link.identifier else { return }
        switch subscription {
        case .active: return
        case .starting(let token, let starts, let isSent):
            subscription = .starting(token, starts + [start].compactMap(\.self), isSent: isSent)
        case .none:
            let configuration: GATTClientConfiguration = properties.contains(.notify) ? .notifications : .indications
            let request = SubscriptionRequest(
                characteristic: information.valueHandle, end: information.endHandle, configuration: configuration)
            let token = device.daemon.house.call(.subscribe(link, request)) { [weak self] result in
                self?.subscribed(result)
            }
            subscription = .starting(token, [start].compactMap(\.self), isSent: false)
        }
    }

    private func subscribed(_ result: Result<CallResult, HostError>) {
        guard case .starting(let token, let starts, _) = subscription else { return }
        switch result {
        // A characteristic without the descriptor notifies without being asked.
        case .success, .failure(.notFound(.clientCharacteristicConfiguration)):
            subscription = .active(token)
            if isNotifying { changed("Notifying") }
            for start in starts {
                switch start {
                case .notify(let call): call.reply()
                case .acquire(let call, let client): giveNotifyPipe(call, client)
                }
            }
            unsubscribeIfUnused()
        case .failure(let error):
            subscription = .none
            for start in starts {
                sessions.remove(start.call.sender)
                start.call.fail(.attribute(error))
            }
        }
    }

    func unsubscribeIfUnused() {
        guard sessions.isEmpty, notifyPipe == nil, !isFollowed else { return }
        switch subscription {
        case .none: return
        case .starting(let token, let starts, _):
            guard starts.isEmpty else { return }
            device.daemon.house.forget(token)
        case .active(let token):
            if let link = device.link.identifier { device.daemon.house.post(.unsubscribe(link, token)) }
        }
        subscription = .none
    }
}
