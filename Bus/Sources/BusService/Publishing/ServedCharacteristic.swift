import BluetoothATT
import BluetoothGATT
import BluetoothHost
import BluetoothUsers
import DBus
import Glibc

/// A characteristic of a client's application: its subscribers, and the sockets that carry its values if the client
/// prefers them to a call for each value.
final class ServedCharacteristic {
    private unowned let application: Application
    private let client: Client
    private let attribute: Application.Attribute
    private let handle: AttributeHandle
    private let preference: SocketPreference
    private var subscribers: [LinkIdentifier: GATTClientConfiguration] = [:]
    private var writing = Writing.none
    private var notifying = Notifying.none

    /// Which values the client wants to exchange over sockets.
    struct SocketPreference: OptionSet {
        let rawValue: UInt8
        /// `AcquireWrite`, for a characteristic with the property `WriteAcquired`.
        static let writes = SocketPreference(rawValue: 1)
        /// `AcquireNotify`, for a characteristic with the property `NotifyAcquired`.
        static let notifications = SocketPreference(rawValue: 2)
    }

    /// The outcome of a write over a socket.
    enum SocketWrite {
        case sent
        case failed
        /// The client provides no socket: call `WriteValue`.
        case unavailable
    }

    private enum Writing {
        case none
        /// The client was asked for a socket. Writes wait for it.
        case acquiring([(octets: [UInt8], completion: (SocketWrite) -> Void)])
        case acquired(AcquiredPipe)
    }

    private enum Notifying {
        case none
        /// The client was told with `StartNotify`.
        case started
        /// The client was asked for a socket, with the request of this number.
        case acquiring(UInt64)
        case acquired(AcquiredPipe)
    }

    /// Writes that may wait for a socket, and values that may wait for a credit on each link.
    private static let waitingLimit = 64
    private var lastRequest: UInt64 = 0

    init(
        _ handle: AttributeHandle, _ attribute: Application.Attribute, _ preference: SocketPreference,
        _ application: Application, _ client: Client
    ) {
        self.handle = handle
        self.attribute = attribute
        self.preference = preference
        self.application = application
        self.client = client
    }

    // MARK: - Writes of peers

    /// Passes a value to the client's socket.
    func write(_ octets: [UInt8], from link: LinkIdentifier, _ completion: @escaping (SocketWrite) -> Void) {
        guard preference.contains(.writes) else { return completion(.unavailable) }
        switch writing {
        case .acquired(let pipe): completion(pipe.send(octets) ? .sent : .failed)
        case .acquiring(let waiting) where waiting.count >= Self.waitingLimit: completion(.failed)
        case .acquiring(let waiting): writing = .acquiring(waiting + [(octets, completion)])
        case .none:
            writing = .acquiring([(octets, completion)])
            application.acquire(attribute, "AcquireWrite", link) { [weak self] descriptor in
                guard let self, case .acquiring(let waiting) = writing else { return Self.discard(descriptor) }
                writeSocketArrived(descriptor, waiting)
            }
        }
    }

    private func writeSocketArrived(
        _ descriptor: Int32?, _ waiting: [(octets: [UInt8], completion: (SocketWrite) -> Void)]
    ) {
        writing = .none
        let pipe = descriptor.flatMap { descriptor in
            AcquiredPipe(adopting: descriptor, for: client, .toClient) { [weak self] in self?.writing = .none }
        }
        if let pipe { writing = .acquired(pipe) }
        for (octets, completion) in waiting {
            guard let pipe else {
                completion(.unavailable)
                continue
            }
            completion(pipe.send(octets) ? .sent : .failed)
        }
    }

    /// Closes a socket that nobody needs any more.
    private static func discard(_ descriptor: Int32?) {
        if let descriptor { close(descriptor) }
    }

    // MARK: - Subscriptions

    /// A peer has changed its subscription, which ends with its link.
    func subscriptionChanged(_ link: LinkIdentifier, _ configuration: GATTClientConfiguration) {
        let wasEmpty = subscribers.isEmpty
        subscribers[link] = configuration.isEmpty ? nil : configuration
        switch (wasEmpty, subscribers.isEmpty) {
        case (true, false): start(link)
        case (false, true): stop()
        case (true, true), (false, false): return
        }
    }

    private func start(_ link: LinkIdentifier) {
        guard preference.contains(.notifications) else { return startNotify() }
        lastRequest += 1
        let request = lastRequest
        notifying = .acquiring(request)
        application.acquire(attribute, "AcquireNotify", link) { [weak self] descriptor in
            guard let self, case .acquiring(request) = notifying else { return Self.discard(descriptor) }
            notifySocketArrived(descriptor)
        }
    }

    private func startNotify() {
        notifying = .started
        application.call(attribute, "StartNotify", []) { _ in }
    }

    private func notifySocketArrived(_ descriptor: Int32?) {
        let pipe = descriptor.flatMap { descriptor in
            AcquiredPipe(
                adopting: descriptor, for: client, .fromClient { [weak self] in self?.takeValue($0) ?? true }
            ) { [weak self] in self?.notifying = .none }
        }
        if let pipe { notifying = .acquired(pipe) } else { startNotify() }
    }

    private func stop() {
        if case .started = notifying { application.call(attribute, "StopNotify", []) { _ in } }
        notifying = .none
    }

    // MARK: - Values for subscribers

    /// Takes a value from the client's socket, unless a subscriber is too far behind.
    private func takeValue(_ receive: () -> [UInt8]?) -> Bool {
        let credits = client.credits
        if let link = subscribers.keys.first(where: { credits.waitingCount(on: $0) >= Self.waitingLimit }) {
            credits.take(on: link) { [weak self] isAvailable in
                if isAvailable { credits.add(1, on: link) }
                if case .acquired(let pipe)? = self?.notifying { pipe.resume() }
            }
            return false
        }
        if let octets = receive() { update(octets) }
        return true
    }

    /// Sends a value to the subscribers. A subscriber that is too far behind does not receive it.
    func update(_ octets: [UInt8]) {
        for (link, configuration) in subscribers where client.credits.waitingCount(on: link) < Self.waitingLimit {
            client.credits.take(on: link) { [weak self] isAvailable in
                guard isAvailable, let self else { return }
                if configuration.contains(.notifications) {
                    client.user.post(.update(link, handle, octets))
                } else {
                    // Sending an indication takes no credit.
                    client.credits.add(1, on: link)
                    indicate(octets, to: link)
                }
            }
        }
    }

    private func indicate(_ octets: [UInt8], to link: LinkIdentifier) {
        let limit = max(Int(client.daemon.devices.connected(link)?.link.information?.mtu ?? 23) - 3, 0)
        client.user.call(.indicate(link, handle, Array(octets.prefix(limit)))) { [weak self] result in
            guard let self, case .success = result else { return }
            client.tell(attribute.path, attribute.interface, "Confirm")
        }
    }
}
