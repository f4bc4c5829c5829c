/// Decides which connections may stay. Two resources are limited separately: unfinished handshakes, which anyone can
/// begin, and places for clients, which a client gets with its hello. No single address can exhaust either resource.
///
/// When there are too many unfinished handshakes, the oldest one is closed. It is chosen from the same address if that
/// address has reached its limit, from the same network if the network has reached its limit, and otherwise from the
/// network with the most handshakes.
///
/// When all places are taken, the network with the most clients loses its newest client to a client of a network that
/// has at least two fewer. Within one network, the same rule applies to its addresses. Addresses whose handshakes fail
/// repeatedly must wait.
struct Admission {
    typealias Instant = ContinuousClock.Instant

    private struct Connection {
        var client: ProxyClientID
        var origin: ClientOrigin
    }

    /// The decision about a connection.
    enum Verdict: Equatable {
        /// The connection may stay. If another connection is named, that one must end.
        case admitted(inPlaceOf: ProxyClientID?)
        case refused(Refusal)
    }

    enum Refusal: Equatable {
        /// Too many handshakes from its address failed recently.
        case backingOff
        /// All places are taken.
        case noPlace
    }

    /// The limits for unfinished handshakes: in total, per network, and per address.
    static let unfinishedLimit = 32
    static let unfinishedLimitPerNetwork = 16
    static let unfinishedLimitPerOrigin = 8
    static let clientLimit = 8

    /// Both in the order of arrival.
    private var unfinished: [Connection] = []
    private var clients: [Connection] = []
    private var failures = FailedHandshakes()

    var clientCount: Int { clients.count }
    var unfinishedCount: Int { unfinished.count }

    /// Decides whether a new connection may begin its handshake.
    mutating func begin(_ client: ProxyClientID, from origin: ClientOrigin, at now: Instant) -> Verdict {
        guard !failures.isBackingOff(origin, at: now) else { return .refused(.backingOff) }
        let yielding = yieldingHandshake(to: origin)
        if let yielding { unfinished.removeAll { $0.client == yielding } }
        unfinished.append(Connection(client: client, origin: origin))
        return .admitted(inPlaceOf: yielding)
    }

    /// The unfinished handshake that must end to make room for another; nil if there is room.
    private func yieldingHandshake(to origin: ClientOrigin) -> ProxyClientID? {
        let own = unfinished.filter { $0.origin == origin }
        if own.count >= Self.unfinishedLimitPerOrigin { return own.first?.client }
        let network = unfinished.filter { $0.origin.network == origin.network }
        if network.count >= Self.unfinishedLimitPerNetwork { return Self.oldestOfLargest(network) }
        guard unfinished.count >= Self.unfinishedLimit else { return nil }
        let most = Self.largest(unfinished, by: \.origin.network).value
        return Self.oldestOfLargest(unfinished.filter { $0.origin.network == most })
    }

    /// Decides whether a client that has finished its handshake gets a place.
    mutating func finish(_ client: ProxyClientID) -> Verdict {
        guard let index = unfinished.firstIndex(where: { $0.client == client }) else { return .refused(.noPlace) }
        let connection = unfinished[index]
        var gone: ProxyClientID?
        if clients.count >= Self.clientLimit {
            guard let yielding = yieldingClient(to: connection.origin) else { return .refused(.noPlace) }
            clients.removeAll { $0.client == yielding }
            gone = yielding
        }
        unfinished.remove(at: index)
        clients.append(connection)
        failures.forget(connection.origin)
        return .admitted(inPlaceOf: gone)
    }

    /// The client that must give its place to a client at this address; nil if none must.
    private func yieldingClient(to origin: ClientOrigin) -> ProxyClientID? {
        let network = Self.largest(clients, by: \.origin.network)
        let members = clients.filter { $0.origin.network == network.value }
        let address = Self.largest(members, by: \.origin)
        let isUneven: Bool
        if network.value == origin.network {
            isUneven = address.count >= clients.count { $0.origin == origin } + 2
        } else {
            isUneven = network.count >= clients.count { $0.origin.network == origin.network } + 2
        }
        return isUneven ? members.last { $0.origin == address.value }?.client : nil
    }

    /// Records a handshake that failed because of the client.
    mutating func fail(from origin: ClientOrigin, at now: Instant) { failures.record(origin, at: now) }

    /// Removes a connection that has ended.
    mutating func end(_ client: ProxyClientID) {
        unfinished.removeAll { $0.client == client }
        clients.removeAll { $0.client == client }
    }

    /// The oldest connection of the address that has the most of the given connections.
    private static func oldestOfLargest(_ connections: [Connection]) -> ProxyClientID? {
        let most = largest(connections, by: \.origin).value
        return connections.first { $0.origin == most }?.client
    }

    /// The address or network with the most connections. In a tie, the one with the oldest connection.
    private static func largest(
        _ connections: [Connection], by origin: KeyPath<Connection, ClientOrigin>
    ) -> (value: ClientOrigin, count: Int) {
        var counts: [ClientOrigin: Int] = [:]
        for connection in connections { counts[connection[keyPath: origin], default: 0] += 1 }
        let most = counts.values.max() ?? 0
        let first = connections.first { counts[$0[keyPath: origin]] == most }
        return (first?[keyPath: origin] ?? .unknown, most)
    }
}
