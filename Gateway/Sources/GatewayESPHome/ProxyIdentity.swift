import Crypto
import SwiftProtobuf

/// The identity that a proxy reports to clients.
public struct ProxyIdentity: Equatable, Sendable {
    /// Lower-case letters, digits and hyphens.
    public var name: String
    /// The name to show to users.
    public var friendlyName: String
    /// The 48-bit address by which clients recognize the proxy.
    public var address: UInt64
    /// The version of the gateway, which clients see as the project version.
    public var version: String

    /// - Parameter gateway: the gateway's name. The proxy's names and address are derived from it, so that clients
    ///   recognize the proxy whatever adapters it has.
    public init(gateway: String, version: String) {
        let name = gateway.lowercased().unicodeScalars.map { scalar in
            ("a"..."z").contains(scalar) || ("0"..."9").contains(scalar) ? String(scalar) : "-"
        }
        self.name = name.joined()
        friendlyName = gateway
        self.version = version
        let digest = SHA256.hash(data: Array("ble-gateway \(gateway)".utf8)).prefix(6)
        // A locally administered, unicast address.
        address = digest.reduce(0) { $0 << 8 | UInt64($1) } & 0xFCFF_FFFF_FFFF | 0x0200_0000_0000
    }

    /// The address as six pairs of digits, separated by colons.
    var addressText: String {
        addressDigits.enumerated().map { $0 > 0 && $0.isMultiple(of: 2) ? ":\($1)" : "\($1)" }.joined()
    }

    /// The address as twelve digits.
    var addressDigits: String {
        let digits = String(address, radix: 16, uppercase: true)
        return String(repeating: "0", count: 12 - digits.count) + digits
    }
}

extension ProxyIdentity {
    /// The features that the proxy reports to clients.
    struct Features: OptionSet {
        var rawValue: UInt32

        static let passiveScan = Self(rawValue: 1 << 0)
        static let activeConnections = Self(rawValue: 1 << 1)
        /// Clients cache services, and write Client Characteristic Configuration descriptors themselves.
        static let remoteCaching = Self(rawValue: 1 << 2)
        static let pairing = Self(rawValue: 1 << 3)
        static let cacheClearing = Self(rawValue: 1 << 4)
        static let rawAdvertisements = Self(rawValue: 1 << 5)
        static let stateAndMode = Self(rawValue: 1 << 6)
        static let connectionParameters = Self(rawValue: 1 << 7)

        init(rawValue: UInt32) { self.rawValue = rawValue }

        init(allowsPairing: Bool) {
            self = [
                .passiveScan, .activeConnections, .remoteCaching, .cacheClearing, .rawAdvertisements, .stateAndMode,
                .connectionParameters,
            ]
            if allowsPairing { insert(.pairing) }
        }
    }

    func information(_ features: Features, isEncrypted: Bool) -> APIDeviceInfoResponse {
        .with {
            $0.name = name
            $0.friendlyName = friendlyName
            $0.macAddress = addressText
            $0.bluetoothMacAddress = addressText
            $0.esphomeVersion = Self.interface
            $0.manufacturer = "swift-bluetooth-le"
            $0.model = "ble-gateway"
            $0.projectName = Self.project
            $0.projectVersion = version
            // For clients that predate the feature flags: everything except raw advertisements.
            $0.legacyBluetoothProxyVersion = features.contains(.pairing) ? 5 : 3
            $0.bluetoothProxyFeatureFlags = features.rawValue
            $0.apiEncryptionSupported = isEncrypted
        }
    }

    static let project = "swift-bluetooth-le.ble-gateway"
    /// The version of ESPHome whose interface the proxy implements. Clients warn about older versions.
    static let interface = "2026.6.0"
    /// The version of the API: the latest one that concerns Bluetooth.
    static let api: (major: UInt32, minor: UInt32) = (1, 14)
}
