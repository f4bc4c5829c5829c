import BluetoothBase
import BluetoothHCI

/// The purpose of a command, which determines the handler of its answer.
enum CommandPurpose: Equatable, Sendable {
    case bringUp(BringUpStep)
    case scan(Scanner.Step)
    case advertise(HostAdvertisingSet.Step, AdvertisingHandle)
    case connect(Initiator.Step)
    case synchronize(PeriodicSynchronizer.Step)
    case disconnect(LinkIdentifier)
    case readRSSI(RequestIdentifier, LinkIdentifier)
    /// A request about a link that ends with the answer.
    case request(RequestIdentifier, LinkIdentifier)
    case connectionUpdate(LinkIdentifier)
    case setPHY(LinkIdentifier)
    case power(LinkPower.Answer, RequestIdentifier, LinkIdentifier)
    case encrypt(LinkIdentifier)
    case privacy
    /// The answer is ignored.
    case none
}

extension CommandPurpose {
    /// The request that ends with the answer.
    var request: (identifier: RequestIdentifier, link: LinkIdentifier)? {
        switch self {
        case .readRSSI(let request, let link), .request(let request, let link): (request, link)
        default: nil
        }
    }
}

/// The purposes of pending commands. The token that each command carries through the queue identifies its purpose.
struct CommandPurposes: Sendable {
    private var slots: [CommandPurpose?] = []
    /// The identifier of the next request that a caller makes.
    private(set) var nextRequest = RequestIdentifier(number: 1)

    mutating func makeRequest() -> RequestIdentifier {
        defer { nextRequest = RequestIdentifier(number: nextRequest.number &+ 1) }
        return nextRequest
    }

    mutating func insert(_ purpose: CommandPurpose) -> UInt64 {
        guard purpose != .none else { return Self.none }
        if let free = slots.firstIndex(where: { $0 == nil }) {
            slots[free] = purpose
            return UInt64(free)
        }
        slots.append(purpose)
        return UInt64(slots.count - 1)
    }

    /// Removes and returns the purpose of a command that has ended.
    mutating func remove(_ token: UInt64) -> CommandPurpose {
        guard token < UInt64(slots.count), let purpose = slots[Int(token)] else { return .none }
        slots[Int(token)] = nil
        return purpose
    }

    /// Removes and returns the requests about a link that has ended.
    mutating func removeRequests(of link: LinkIdentifier) -> [RequestIdentifier] {
        var requests: [RequestIdentifier] = []
        for index in slots.indices {
            guard let request = slots[index]?.request, request.link == link else { continue }
            requests.append(request.identifier)
            // The answer is still outstanding, and must not find a different purpose in this slot.
            slots[index] = CommandPurpose.none
        }
        return requests
    }

    private static let none = UInt64.max
}
