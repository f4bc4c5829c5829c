import BluetoothBase
import BluetoothLE
import Foundation

/// A request that a client sends through the broker.
struct RemoteRequest: Equatable, Sendable {
    enum Action: Equatable, Sendable {
        case connect
        case disconnect
        case discover
        case read(Place)
        case write(Place, [UInt8], awaitsResponse: Bool)
        case subscribe(Place)
        case unsubscribe(Place)
        case pair
        case unpair
    }

    /// A characteristic.
    struct Place: Hashable, Sendable {
        var service: BluetoothUUID
        var characteristic: BluetoothUUID
    }

    /// The identifier that the answer repeats.
    var id: String?
    var owner: String
    var device: DeviceAddress
    var action: Action
    var timeout: Duration

    static let defaultTimeout = Duration.seconds(10)
    static let maximumLength = 4096

    /// The members of a request.
    private struct Members: Decodable {
        var id: String?
        var owner: String?
        var device: String?
        var `do`: String?
        var service: String?
        var characteristic: String?
        var value: String?
        var response: Bool?
        var timeout: Double?
    }

    /// Parses a request.
    ///
    /// - Throws: the reason why the request is malformed, with its `id` if it has one.
    init(_ payload: [UInt8]) throws(RemoteRefusal) {
        guard payload.count <= Self.maximumLength else {
            throw RemoteRefusal(.malformed, "a request must have at most \(Self.maximumLength) octets")
        }
        guard let members = Self.members(of: payload) else {
            throw RemoteRefusal(.malformed, "a request must be a JSON object with do, owner and device")
        }
        do throws(RemoteRefusal) {
            try self.init(members)
        } catch {
            var refusal = error
            refusal.id = members.id
            throw refusal
        }
    }

    /// The `id` of a request that is not processed any further; nil if it has none.
    static func id(of payload: [UInt8]) -> String? {
        payload.count <= maximumLength ? members(of: payload)?.id.map(Self.shortened) : nil
    }

    private static func members(of payload: [UInt8]) -> Members? {
        try? JSONDecoder().decode(Members.self, from: Data(payload))
    }

    private static func shortened(_ id: String) -> String { String(id.prefix(128)) }

    private init(_ members: Members) throws(RemoteRefusal) {
        id = members.id.map(Self.shortened)
        guard let owner = members.owner, (1...64).contains(owner.utf8.count) else {
            throw RemoteRefusal(.malformed, "owner must identify the client, in 1 to 64 octets")
        }
        guard let device = members.device.flatMap({ DeviceAddress($0) }) else {
            throw RemoteRefusal(.malformed, "device must be an address, such as A4:C1:38:11:22:33")
        }
        self.owner = owner
        self.device = device
        guard let timeout = Optional(members.timeout ?? 10), (0.1...60).contains(timeout) else {
            throw RemoteRefusal(.malformed, "timeout must be a number of seconds from 0.1 to 60")
        }
        self.timeout = .milliseconds(Int64(timeout * 1000))
        switch members.do {
        case "connect": action = .connect
        case "disconnect": action = .disconnect
        case "discover": action = .discover
        case "pair": action = .pair
        case "unpair": action = .unpair
        case "read": action = .read(try Place(members.service, members.characteristic))
        case "subscribe": action = .subscribe(try Place(members.service, members.characteristic))
        case "unsubscribe": action = .unsubscribe(try Place(members.service, members.characteristic))
        case "write":
            guard let value = members.value.flatMap({ [UInt8](hexadecimal: $0) }), value.count <= 512 else {
                throw RemoteRefusal(.malformed, "value must be at most 512 octets, in hexadecimal")
            }
            action = .write(
                try Place(members.service, members.characteristic), value, awaitsResponse: members.response ?? true)
        default:
            throw RemoteRefusal(
                .malformed,
                "do must be one of connect, discover, read, write, subscribe, unsubscribe, pair, unpair, disconnect")
        }
    }
}

extension RemoteRequest.Action {
    /// Whether the action creates or removes a bond.
    var concernsBonds: Bool { self == .pair || self == .unpair }
}

extension RemoteRequest.Place {
    fileprivate init(_ service: String?, _ characteristic: String?) throws(RemoteRefusal) {
        guard let service = service.flatMap({ BluetoothUUID($0) }),
            let characteristic = characteristic.flatMap({ BluetoothUUID($0) })
        else { throw RemoteRefusal(.malformed, "service and characteristic must be UUIDs") }
        self.init(service: service, characteristic: characteristic)
    }
}

/// The reason why a request is refused or has failed, as stated in the answer.
struct RemoteRefusal: Error, Equatable, Sendable {
    /// The reasons that programs can distinguish.
    enum Code: String, Sendable {
        case malformed, notAllowed, busy, owned, notConnected, timedOut, noAdapter, notFound, failed
    }

    var code: Code
    var reason: String
    var id: String?

    init(_ code: Code, _ reason: String, id: String? = nil) {
        self.code = code
        self.reason = reason
        self.id = id
    }

    init(_ error: BluetoothError) {
        switch error.code {
        case .timedOut, .peerNotResponding: self.init(.timedOut, "\(error)")
        case .disconnected, .adapterRemoved: self.init(.notConnected, "\(error)")
        case .notFound: self.init(.notFound, "\(error)")
        default: self.init(.failed, "\(error)")
        }
    }
}
