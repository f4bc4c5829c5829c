import BluetoothBase

/// Where messages go. No topic has anything in it that came from the air but addresses and the names of formats' fields.
public struct Topics: Equatable, Sendable {
    /// What all topics begin with.
    public var base: String
    /// This gateway's name.
    public var gateway: String
    /// What Home Assistant's discovery begins with.
    public var discovery: String

    public init(base: String = "ble", gateway: String, discovery: String = "homeassistant") {
        self.base = base
        self.gateway = gateway
        self.discovery = discovery
    }

    /// Of everything that is about the gateway itself.
    public var gatewayRoot: String { "\(base)/gateways/\(gateway)" }
    /// `online` or `offline`, retained; the last will.
    public var availability: String { gatewayRoot + "/availability" }
    /// How the gateway is, retained.
    public var health: String { gatewayRoot + "/health" }

    /// A device's values, whoever hears it: retained.
    func state(_ device: DeviceAddress) -> String { "\(base)/devices/\(device.digits)/state" }
    /// What happened at a device.
    func event(_ device: DeviceAddress, _ field: String) -> String { "\(base)/devices/\(device.digits)/\(field)" }
    /// How well this gateway hears a device.
    func signal(_ device: DeviceAddress) -> String { "\(gatewayRoot)/signal/\(device.digits)" }
    /// What this gateway received of a device.
    func raw(_ device: DeviceAddress) -> String { "\(gatewayRoot)/raw/\(device.digits)" }

    /// Whether a text can be a level of a topic: not empty, without the separator, wildcards and characters that cannot be shown.
    public static func isLevel(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 64
            && text.unicodeScalars.allSatisfy { $0 != "/" && $0 != "+" && $0 != "#" && $0 != "$" }
            && text.shown == text
    }

    /// Whether a text can be what topics begin with: levels.
    public static func isPrefix(_ text: String) -> Bool {
        text.utf8.count <= 256
            && text.split(separator: "/", omittingEmptySubsequences: false).allSatisfy { isLevel(String($0)) }
    }
}

extension Topics {
    /// Whether a text that comes from elsewhere can be a topic: of a sensible length, without wildcards and zeros.
    public static func isPath(_ text: String) -> Bool {
        (1...1024).contains(text.utf8.count)
            && !text.utf8.contains { $0 == 0 || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "#") }
    }
}

/// How reports become messages.
public protocol Preset: Sendable {
    /// The messages that tell of a report.
    mutating func publications(for report: Report) -> [Publication]
    /// Where it is told whether the gateway is there, retained, with `online` or `offline`.
    var availabilityTopic: String { get }
    /// The broker may know nothing any more of what was told once and for all: tell it again.
    mutating func forget()
}

/// The presets by the names that configurations have for them.
public enum PresetName: String, CaseIterable, Sendable {
    /// Values for Home Assistant, with its discovery.
    case homeassistant
    /// As OpenMQTTGateway and Theengs Gateway publish.
    case theengs
    /// What was received, in hexadecimal.
    case raw

    /// The preset of that name.
    ///
    /// - Parameters:
    ///   - expiry: after what silence a device's values count no more.
    ///   - capacity: how many devices it remembers.
    public func preset(_ topics: Topics, expiry: Duration, capacity: Int) -> any Preset {
        switch self {
        case .homeassistant: HomeAssistantPreset(topics, expiry: expiry, capacity: capacity)
        case .theengs: TheengsPreset(topics)
        case .raw: RawPreset(topics)
        }
    }

    /// What its topics begin with if the configuration does not say.
    public var base: String { self == .theengs ? "home" : "ble" }
    /// What has to change for a device to be told of anew.
    public var comparison: PipelineSettings.Comparison { self == .raw ? .data : .values }
    /// Whether devices in no known format are told of.
    public var tellsUndecoded: Bool { self != .homeassistant }
}
