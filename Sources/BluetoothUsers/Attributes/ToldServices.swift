import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost

/// The services that users have found on a link before changes were watched: a change between the two is not indicated (Core 5.4,
/// Vol 3, Part G, 7.1). Where the peer has no Database Hash, these are compared with the services that it has afterwards.
struct ToldServices: Hashable, Sendable {
    private struct Answer: Hashable, Sendable {
        /// The UUID of the discovery; nil for all services.
        let uuid: BluetoothUUID?
        let services: [DiscoveredService]
    }

    private var answers: [Answer] = []
    /// Services and answers so far.
    private var count = 0
    /// Whether there were more than are remembered: then any of them may have changed.
    private var isIncomplete = false

    /// The most services, and answers, that are remembered.
    static let capacity = 256

    var isEmpty: Bool { answers.isEmpty && !isIncomplete }

    /// Remembers what a discovery has found, if that is services.
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

    /// The handles of the services that are not what users have found; nil where all are.
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
    /// Whether two answers mean the same service.
    ///
    /// - Parameter uuid: the UUID of the discovery; nil for all services. Some servers report another end of a service in a discovery
    ///   by UUID.
    fileprivate func isSame(as other: DiscoveredService, in uuid: BluetoothUUID?) -> Bool {
        self.uuid == other.uuid && startHandle == other.startHandle && (uuid != nil || endHandle == other.endHandle)
    }
}
