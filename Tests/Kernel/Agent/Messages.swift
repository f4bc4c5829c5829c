import BluetoothLE

/// A request. Values are in hexadecimal.
struct Request: Decodable, Sendable {
    var id: Int
    var call: Call

    enum Call: String, Decodable, Sendable {
        // Any of the others
        case cancel
        // The adapter
        case open, close, information, heap
        // Scanning and connecting
        case firstSighting, scan, stopScan, connect, disconnect, waitForDisconnection
        // The client
        case discover, read, write, burst, subscribe, unsubscribe, rssi, mtu, parameters, updateParameters
        // The server
        case publish, withdraw, advertise, stopAdvertising, setValue, value, notify, indicate
        // Security
        case beAgent, answerPairing, pair, security, bonds, removeBond
    }

    var transport: String?
    var name: String?
    var address: String?
    /// 16-bit or 128-bit UUIDs of services.
    var services: [String]?
    /// In seconds.
    var timeout: Double?
    /// The number of a connection, as `connect` and the event `connected` give it.
    var connection: Int?
    var handle: UInt16?
    var value: String?
    var count: Int?
    /// The ATT_MTU to request and to offer.
    var mtu: UInt16?
    /// The number of the request to cancel.
    var request: Int?
    var service: Service?
    var parameters: Parameters?
    /// Whether to advertise as connectable; true if omitted.
    var isConnectable: Bool?
    /// A btsnoop file to write.
    var capture: String?
    /// The directory that bonds are kept in; they are forgotten with the adapter if omitted.
    var bonds: String?
    /// Whether to use private addresses.
    var isPrivate: Bool?
    /// Whether bonded peers that have private addresses may use their identity address; true if omitted.
    var allowsIdentityAddresses: Bool?
    /// What the agent can show and take: a name of `IOCapability`.
    var capability: String?
    /// Whether pairing begins by itself where a peer wants it; false if omitted.
    var pairsOnDemand: Bool?
    var requiresAuthentication: Bool?
    /// The answer to a question: yes or no, or a passkey.
    var isAccepted: Bool?
    var passkey: UInt32?
}

/// A service to publish, or one that was discovered or published.
struct Service: Codable, Sendable {
    var uuid: String
    var isPrimary: Bool?
    var handle: UInt16?
    var end: UInt16?
    var characteristics: [Characteristic] = []
    /// The handles of included services' declarations.
    var includes: [UInt16]?
}

struct Characteristic: Codable, Sendable {
    var uuid: String
    /// The octet of the declaration (Core 5.4, Vol 3, Part G, 3.3.1.1).
    var properties: UInt8
    var declaration: UInt16?
    /// The handle of the value.
    var handle: UInt16?
    /// The initial value in the database; the agent keeps the value if it is `dynamic`.
    var value: String?
    var isDynamic: Bool?
    /// The ATT error that each access to a dynamic value is refused with.
    var refusal: UInt8?
    /// Whether only an encrypted link may read and write.
    var needsEncryption: Bool?
    /// Whether only a link that is encrypted with a key from an authenticated pairing may.
    var needsAuthentication: Bool?
    /// The bits of the Characteristic Extended Properties descriptor (Core 5.4, Vol 3, Part G, 3.3.3.1).
    var extendedProperties: UInt16?
    /// All except those implied by the properties.
    var descriptors: [Descriptor]?
    /// The handle of the Client Characteristic Configuration descriptor.
    var configuration: UInt16?
}

struct Descriptor: Codable, Sendable {
    var uuid: String
    var handle: UInt16?
    var value: String?
    var isWritable: Bool?
}

/// Connection parameters: the interval and the supervision timeout in milliseconds.
struct Parameters: Codable, Sendable {
    var interval: Double
    var latency: UInt16
    var timeout: Double

    init(_ parameters: CurrentConnectionParameters) {
        interval = parameters.interval / .milliseconds(1)
        latency = parameters.latency
        timeout = parameters.supervisionTimeout / .milliseconds(1)
    }

    /// The parameters to request: exactly this interval.
    var wanted: ConnectionParameters {
        ConnectionParameters(
            minimumInterval: .milliseconds(interval), maximumInterval: .milliseconds(interval), latency: latency,
            supervisionTimeout: .milliseconds(timeout))
    }
}

/// The one answer to a request.
struct Reply: Encodable, Sendable {
    var id: Int
    var error: String?
    var kind: String?

    var address: String?
    var name: String?
    var rssi: Int?
    var services: [String]?
    var connection: Int?
    var mtu: Int?
    var value: String?
    var count: Int?
    var reason: String?
    var database: [Service]?
    var service: Service?
    var parameters: Parameters?
    var aclDataLength: Int?
    var aclBufferCount: Int?
    var security: Security?
    /// The identity addresses of bonded peers.
    var peers: [String]?
}

/// How a link is protected, or what a pairing has led to.
struct Security: Encodable, Sendable {
    var isEncrypted: Bool
    var isAuthenticated: Bool
    var usesSecureConnections: Bool
    var keySize: UInt8
    var isBonded: Bool
}

/// An unsolicited event.
struct Event: Encodable, Sendable {
    var event: String
    var connection: Int?
    var address: String?
    var handle: UInt16?
    var value: String?
    var name: String?
    var rssi: Int?
    /// The advertising data and the scan response.
    var data: String?
    var scanResponse: String?
    var reason: String?
    var role: String?
    var security: Security?
    var question: String?
    /// A passkey, or a number to compare.
    var number: UInt32?
}

struct AgentError: Error, CustomStringConvertible {
    var description: String

    init(_ description: String) { self.description = description }
}

/// The octets of a hexadecimal text.
func octets(_ text: String) throws -> [UInt8] {
    let digits = Array(text.utf8)
    guard digits.count.isMultiple(of: 2) else { throw AgentError("an odd number of digits: \(text)") }
    return try stride(from: 0, to: digits.count, by: 2).map { index in
        guard let octet = UInt8(String(decoding: digits[index...index + 1], as: UTF8.self), radix: 16)
        else { throw AgentError("no hexadecimal digits: \(text)") }
        return octet
    }
}

func text(_ octets: [UInt8]) -> String { octets.hexadecimal(separator: "") }

func uuid(_ text: String) throws -> BluetoothUUID {
    guard let uuid = BluetoothUUID(text) else { throw AgentError("no UUID: \(text)") }
    return uuid
}
