import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost

/// The services that users found on a link before changes were watched. The peer does not indicate changes from that
/// time (Core 5.4, Vol 3, Part G, 7.1). If the peer has no Database Hash, these services are compared with the ones it
/// has later.
struct ToldServices: Hashable, Sendable {
    private struct Answer: Hashable, Sendable {
        /// The UUID of the discovery; nil for all services.
        let uuid: BluetoothUUID?
        let services: [DiscoveredService]
    }

    private var answers: [Answer] = []
    /// The number of services and answers so far.
    private var count = 0
    /// Whether the capacity was exceeded. If so, any service may have changed.
    private var isIncomplete = false

    /// The maximum number of services and answers that are recorded.
    static let capacity = 256

    var isEmpty: Bool { answers.isEmpty && !isIncomplete }

    /// Records the services that a discovery returned. Other results are ignored.
    mutating func add(_ result: GATTClientResult, of operation: GATTClientOperation) {
        let answer: Answer
        switch (operation, result) {
        case (.discoverPrimaryServices(let uuid), .services(let found)): answer = Answer(uuid: uuid, services: found)
        case (.discoverAll, .database(let database)):
            answer = Answer(uuid: nil, services: database.services.filter(\.isPrimary))
        default: return
        }
        count += 1 + answer.services.count
        if count > Self.capacity { isIncomplete = true } else { answers.append(answer) }
    }

    /// The handles of services that differ from those that users have found; nil if none differ.
    ///
    /// - Parameter services: all primary services of the peer.
    func changes(to services: [DiscoveredService]) -> ClosedRange<AttributeHandle>? {
        guard !isIncomplete else { return 0x0001...0xFFFF }
        var changed: [DiscoveredService] = []
        for answer in answers {
            let now = answer.uuid.map { uuid in services.filter { $0.uuid == uuid } } ?? services
            changed += answer.services.filter { found in !now.contains { $0.isSame(as: found, in: answer.uuid) } }
            changed += now.filter { found in !answer.services.contains { $0.isSame(as: found, in: answer.uuid) } }
        }
        guard let first = changed.map(\.startHandle).min(), let last = changed.map(\.endHandle).max() else {
            return nil
        }
        return first...max(first, last)
    }
}

extension DiscoveredService {
    /// Whether two results describe the same service.
    ///
    /// - Parameter uuid: the UUID of the discovery; nil for all services. Some servers report a different end handle in
    ///   a discovery by UUID.
    fileprivate func isSame(as other: DiscoveredService, in uuid: BluetoothUUID?) -> Bool {
        self.uuid == other.uuid && startHandle == other.startHandle && (uuid != nil || endHandle == other.endHandle)
    }
}
