import BluetoothBase
import BluetoothHCI

/// What a command was sent for: says where its answer goes.
enum CommandPurpose: Equatable, Sendable {
    case bringUp(BringUp.Step)
    case scanParameters
    case scanEnable(Bool)
    case advertisingParameters
    case advertisingData
    case scanResponseData
    case advertisingEnable(Bool)
    case acceptList
    case createConnection
    case createConnectionCancel
    case disconnect(LinkIdentifier)
    case readRSSI(RequestIdentifier, LinkIdentifier)
    case connectionUpdate(LinkIdentifier)
    /// Nobody waits for the answer.
    case none
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

    private static let none = UInt64.max
}
