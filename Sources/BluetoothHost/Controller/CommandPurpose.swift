import BluetoothBase
import BluetoothHCI

/// What a command was sent for: says where its answer goes.
enum CommandPurpose: Equatable, Sendable {
    case bringUp(BringUpStep)
    case scan(Scanner.Step)
    case advertise(AdvertisingSet.Step, AdvertisingHandle)
    case connect(Initiator.Step)
    case synchronize(PeriodicSynchronizer.Step)
    case disconnect(LinkIdentifier)
    case readRSSI(RequestIdentifier, LinkIdentifier)
    /// A request about a link that the answer ends.
    case request(RequestIdentifier, LinkIdentifier)
    case connectionUpdate(LinkIdentifier)
    case setPHY(LinkIdentifier)
    case power(LinkPower.Answer, RequestIdentifier, LinkIdentifier)
    case encrypt(LinkIdentifier)
    case privacy
    /// Nobody waits for the answer.
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

/// The purposes of the commands on their way, by the token each command carries through its queue.
struct CommandPurposes: Sendable {
    private var slots: [CommandPurpose?] = []

    mutating func insert(_ purpose: CommandPurpose) -> UInt64 {
        guard purpose != .none else { return Self.none }
        if let free = slots.firstIndex(where: { $0 == nil }) {
            slots[free] = purpose
            return UInt64(free)
        }
        slots.append(purpose)
        return UInt64(slots.count - 1)
    }

    /// Takes the purpose of a command that has ended.
    mutating func remove(_ token: UInt64) -> CommandPurpose {
        guard token < UInt64(slots.count), let purpose = slots[Int(token)] else { return .none }
        slots[Int(token)] = nil
        return purpose
    }

    /// Takes the requests out that concern a link, which has ended.
    mutating func removeRequests(of link: LinkIdentifier) -> [RequestIdentifier] {
        var requests: [RequestIdentifier] = []
        for index in slots.indices {
            guard let request = slots[index]?.request, request.link == link else { continue }
            requests.append(request.identifier)
            // The answer is still to come, and must not find another purpose here.
            slots[index] = CommandPurpose.none
        }
        return requests
    }

    private static let none = UInt64.max
}
