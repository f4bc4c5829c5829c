import BluetoothBase

/// The topics of messages. The only parts of a topic that come from received packets are addresses and the names of
/// formats' fields.
public struct Topics: Equatable, Sendable {
    /// The prefix of all topics.
    public var base: String
    /// This gateway's name.
    public var gateway: String
    /// The prefix of Home Assistant's discovery topics.
    public var discovery: String

    /// Creates the topics of a gateway. The texts are not checked here: see `isLevel` and `isPrefix`.
    public init(base: String = "ble", gateway: String, discovery: String = "homeassistant") {
        self.base = base
        self.gateway = gateway
        self.discovery = discovery
    }

    /// The prefix of all topics about the gateway itself.
    public var gatewayRoot: String { "\(base)/gateways/\(gateway)" }
    /// `online` or `offline`, retained. It is also the topic of the last will.
    public var availability: String { gatewayRoot + "/availability" }
    /// The health of the gateway, retained.
    public var health: String { gatewayRoot + "/health" }

    /// The values of a device, whichever gateway hears it; retained.
    func state(_ device: DeviceAddress) -> String { "\(base)/devices/\(device.digits)/state" }
    /// An event at a device.
    func event(_ device: DeviceAddress, _ field: String) -> String { "\(base)/devices/\(device.digits)/\(field)" }
    /// The signal strength of a device at this gateway.
    func signal(_ device: DeviceAddress) -> String { "\(gatewayRoot)/signal/\(device.digits)" }
    /// The packets that this gateway received from a device.
    func raw(_ device: DeviceAddress) -> String { "\(gatewayRoot)/raw/\(device.digits)" }

    /// Whether a text can be a level of a topic: not empty, of up to 64 octets, and without separators, wildcards and
    /// characters that cannot be displayed.
    public static func isLevel(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 64
            && text.unicodeScalars.allSatisfy { $0 != "/" && $0 != "+" && $0 != "#" && $0 != "$" }
            && text.shown == text
    }

    /// Whether a text can be a prefix of topics: one or more levels.
    public static func isPrefix(_ text: String) -> Bool {
        text.utf8.count <= 256
            && text.split(separator: "/", omittingEmptySubsequences: false).allSatisfy { isLevel(String($0)) }
    }
}

extension Topics {
    /// Whether a text from an external source can be a topic: of reasonable length, without wildcards and zeros.
    public static func isPath(_ text: String) -> Bool {
        (1...1024).contains(text.utf8.count)
            && !text.utf8.contains { $0 == 0 || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "#") }
    }
}

/// Converts reports to messages.
public protocol Preset: Sendable {
    /// The messages for a report.
    mutating func publications(for report: Report) -> [Publication]
    /// The topic that reports the gateway's availability: retained, with `online` or `offline`.
    var availabilityTopic: String { get }
    /// Called when the broker may have lost messages that are sent only once. The preset sends them again.
    mutating func forget()
}

/// The presets, by their names in configurations.
public enum PresetName: String, CaseIterable, Sendable {
    /// Values for Home Assistant, with its discovery.
    case homeassistant
    /// Messages like those of OpenMQTTGateway and Theengs Gateway.
    case theengs
    /// Packets as received, in hexadecimal.
    case raw

    /// Creates the preset with this name.
    ///
    /// - Parameters:
    ///   - expiry: the time without a packet after which a device's values expire.
    ///   - capacity: the maximum number of devices that the preset remembers.
    public func preset(_ topics: Topics, expiry: Duration, capacity: Int) -> any Preset {
        switch self {
        case .homeassistant: HomeAssistantPreset(topics, expiry: expiry, capacity: capacity)
        case .theengs: TheengsPreset(topics)
        case .raw: RawPreset(topics)
        }
    }

    /// The default prefix of its topics.
    public var base: String { self == .theengs ? "home" : "ble" }
    /// The change that causes a device to be reported again.
    public var comparison: PipelineSettings.Comparison { self == .raw ? .data : .values }
    /// Whether devices in no known format are reported.
    public var tellsUndecoded: Bool { self != .homeassistant }
}
