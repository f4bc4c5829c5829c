import BluetoothLE
import BluetoothCommandLine

/// The service of `ble bench --serve`, with which a link is measured.
enum BenchService {
    static let uuid: BluetoothUUID = "5C1E0001-6B9F-4D0C-9A63-0F2B7E1D8A40"
    /// Accepts values, and counts their octets.
    static let sink: BluetoothUUID = "5C1E0002-6B9F-4D0C-9A63-0F2B7E1D8A40"
    /// The number of octets that the sink has received from this peer since the last read: eight octets, little-endian.
    static let count: BluetoothUUID = "5C1E0003-6B9F-4D0C-9A63-0F2B7E1D8A40"
    /// Sends notifications to its subscribers as fast as possible. Each begins with its number, in four octets.
    static let source: BluetoothUUID = "5C1E0004-6B9F-4D0C-9A63-0F2B7E1D8A40"
    /// A value of one octet that the server returns without involving the application.
    static let echo: BluetoothUUID = "5C1E0005-6B9F-4D0C-9A63-0F2B7E1D8A40"

    /// The longest value that an attribute can have (Core 5.4, Vol 3, Part F, 3.2.9), in octets.
    static let longestValue = 512

    static var definition: GATTServiceDefinition {
        GATTServiceDefinition(
            uuid: uuid,
            characteristics: [
                GATTCharacteristicDefinition(
                    uuid: sink, properties: [.write, .writeWithoutResponse],
                    value: .variableLength([], maximum: longestValue)),
                GATTCharacteristicDefinition(uuid: count, properties: .read),
                GATTCharacteristicDefinition(uuid: source, properties: .notify),
                GATTCharacteristicDefinition(uuid: echo, properties: .read, value: .constant([0])),
            ])
    }

    /// The octets of a notification.
    static func notification(_ number: UInt32, length: Int) -> [UInt8] {
        let head = (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        return head + [UInt8](repeating: 0xA5, count: max(0, length - head.count))
    }

    /// The number of a notification; nil if it has none.
    static func number(of notification: [UInt8]) -> UInt32? {
        guard notification.count >= 4 else { return nil }
        return notification[..<4].reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }
}

/// Serves clients, one or several at a time, until it is cancelled.
struct BenchServer {
    /// The maximum number of peers with a count that was not read yet.
    private static let countLimit = 64

    private let service: PublishedService
    private let events: EventSequence<CharacteristicEvent>
    private var counts: [Connection: UInt64] = [:]
    private var senders: [Subscriber: Task<Void, Never>] = [:]

    init(_ adapter: Adapter) async throws {
        events = adapter.characteristicEvents()
        service = try await adapter.publish(BenchService.definition, events: events)
    }

    mutating func run() async throws {
        defer { for sender in senders.values { sender.cancel() } }
        for try await event in events {
            switch event {
            case .written(let value, to: _, by: let connection):
                if counts.count >= Self.countLimit, counts[connection] == nil { counts = [:] }
                counts[connection, default: 0] += UInt64(value.count)
            case .readRequested(let request):
                let count = counts.removeValue(forKey: request.connection) ?? 0
                // If the peer has disconnected, it needs no answer.
                try? await request.respond((0..<8).map { UInt8(truncatingIfNeeded: count >> (8 * $0)) })
            case .subscribed(let subscriber), .subscriptionRestored(let subscriber):
                say("sending notifications to \(subscriber.connection.address)")
                senders[subscriber]?.cancel()
                senders[subscriber] = Task { await Self.send(to: subscriber) }
            case .unsubscribed(let subscriber): senders.removeValue(forKey: subscriber)?.cancel()
            case .writeRequested(let request): try? await request.refuse(.writeNotPermitted)
            case .subscriptionChanged, .dataLost, .authorizationRequested: break
            }
        }
    }

    /// Sends until the peer unsubscribes.
    private static func send(to subscriber: Subscriber) async {
        var number: UInt32 = 0
        // This fails when the peer unsubscribes or disconnects.
        while !Task.isCancelled,
            (try? await subscriber.notify(
                BenchService.notification(
                    number, length: min(subscriber.maximumLength, BenchService.longestValue)))) != nil
        {
            number &+= 1
        }
    }
}
