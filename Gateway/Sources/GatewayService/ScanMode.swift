import GatewayESPHome
import Synchronization

/// Whether adapters scan actively: as configured, unless a client has requested another mode.
final class ScanMode: Sendable {
    private struct Wish {
        var client: ProxyClientID
        var isActive: Bool
    }

    let isActiveByConfiguration: Bool
    /// At most one for each client, the latest one last.
    private let wishes = Mutex<[Wish]>([])

    init(isActive: Bool) { isActiveByConfiguration = isActive }

    /// The mode of the client that requested one last, among those that have not withdrawn their request.
    var isActive: Bool { wishes.withLock { $0.last?.isActive } ?? isActiveByConfiguration }

    /// - Parameter isActive: nil withdraws the client's request.
    func wish(_ isActive: Bool?, by client: ProxyClientID) {
        wishes.withLock { wishes in
            wishes.removeAll { $0.client == client }
            if let isActive { wishes.append(Wish(client: client, isActive: isActive)) }
        }
    }
}
