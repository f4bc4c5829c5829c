import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost
import BluetoothPlatform
import BluetoothSMP
import FoundationEssentials

enum BondSamples {
    static let local = DeviceIdentity(address: DeviceAddress(0x001B_DC00_0001, kind: .public), resolvingKey: 0x11)
    /// The same address, and another key.
    static let renewed = DeviceIdentity(address: local.address, resolvingKey: 0x12)
    static let other = DeviceIdentity(address: DeviceAddress(0xC0FF_EE00_0001, kind: .random), resolvingKey: 0)

    static func address(_ number: UInt64) -> DeviceAddress { DeviceAddress(0xC000_0000_0000 | number, kind: .random) }

    /// A bond with everything that a bond can have.
    static func full(_ number: UInt64 = 1) -> Bond {
        Bond(
            peer: PeerID(DeviceAddress(0x4000_0000_0000 | number, kind: .random)), address: address(number),
            identity: DeviceIdentity(address: address(number), resolvingKey: .max - 1),
            centralKey: LongTermKey(key: 1 << 127 | 0xAB, encryptedDiversifier: .max, random: .max),
            peripheralKey: LongTermKey(key: 2),
            strength: KeyStrength(model: .numericComparison, usesSecureConnections: true, keySize: 16),
            peerSignature: SignatureKey(key: 3, counter: .max), localSignature: SignatureKey(key: 4, counter: 100),
            subscriptions: [GATTSubscription(characteristic: 3, descriptor: 4, configuration: [.notifications])],
            clientSupportedFeatures: [.robustCaching, .enhancedATTBearer], databaseHash: 5, serviceChangedHandle: 8,
            servedDatabaseHash: 6, attributes: attributes, name: "Peer")
    }

    static var attributes: AttributeCache {
        var cache = AttributeCache()
        let service = DiscoveredService(uuid: "180D", startHandle: 1, endHandle: 9)
        cache.learn(.services([service]), of: .discoverPrimaryServices())
        return cache
    }

    /// A bond with as little as one can have.
    static func bare(_ number: UInt64 = 1) -> Bond {
        Bond(
            peer: PeerID(address(number)), address: address(number), peripheralKey: LongTermKey(key: 9),
            strength: KeyStrength(model: .justWorks, usesSecureConnections: false, keySize: 7))
    }
}

/// A directory that is removed with it.
final class TemporaryDirectory {
    let path: String

    init() {
        var template = Array("/tmp/bonds-XXXXXX".utf8CString)
        precondition(mkdtemp(&template) != nil)
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: path).filter { $0 != ".lock" }.sorted() }
    }

    func write(_ text: String, to name: String, mode: mode_t = 0o600) throws {
        try Data(text.utf8).write(to: URL(filePath: path + "/" + name))
        chmod(path + "/" + name, mode)
    }

    func text(of name: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(filePath: path + "/" + name)), as: UTF8.self)
    }

    func mode(of name: String = "") -> mode_t {
        var status = stat()
        return stat(path + "/" + name, &status) == 0 ? status.st_mode & 0o7777 : 0
    }
}
