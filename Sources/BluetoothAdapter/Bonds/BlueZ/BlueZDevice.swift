import BluetoothBase
import BluetoothHost
import BluetoothSMP

/// Reads a bond from a device's `info` file.
struct BlueZDevice {
    /// Why the file contains no usable bond.
    struct Problem: Error, Equatable {
        let reason: String

        init(_ reason: String) { self.reason = reason }
    }

    /// The value of `Authenticated` for a long-term key: the `Key_Type` of the kernel's management interface.
    private enum KeyType: Int {
        case unauthenticated = 0
        case authenticated = 1
        case unauthenticatedP256 = 2
        case authenticatedP256 = 3
        case debugP256 = 4

        var isP256: Bool { self == .unauthenticatedP256 || self == .authenticatedP256 }
        var isAuthenticated: Bool { self == .authenticated || self == .authenticatedP256 }
    }

    private struct StoredKey {
        var key: LongTermKey
        var type: KeyType
        var size: UInt8
        var isForCentral: Bool
    }

    let bond: Bond

    init(_ value: UInt64, _ info: KeyFile) throws(Problem) {
        let kind = info.text("AddressType", in: "General")
        let address = DeviceAddress(value, kind: kind == "static" ? .random : .public)
        guard address.isIdentity else { throw Problem("its address is private, and does not identify a peer") }
        let keys = try Self.keys(info)
        guard let first = keys.first else {
            throw Problem(
                info.has("LinkKey") ? "it is bonded for BR/EDR only, not for Bluetooth LE" : "it is not bonded")
        }
        // A key of LE Secure Connections serves both roles, and any other key beside it is older. Otherwise the bond is
        // only as strong as the weaker of its two keys.
        let shared = keys.first { $0.type.isP256 }
        let used = shared.map { [$0] } ?? keys
        let strength = KeyStrength(
            // BlueZ does not store the association model. All models except Just Works authenticate.
            model: used.allSatisfy(\.type.isAuthenticated) ? .passkeyEntry : .justWorks,
            usesSecureConnections: shared != nil, keySize: used.map(\.size).min() ?? first.size)
        bond = Bond(
            peer: PeerID(address), address: address, identity: try Self.identity(address, info),
            centralKey: (shared ?? keys.first { $0.isForCentral })?.key,
            peripheralKey: (shared ?? keys.first { !$0.isForCentral })?.key, strength: strength,
            peerSignature: try Self.signature("RemoteSignatureKey", info).map {
                // BlueZ stores the last counter that it accepted; a bond stores the next one.
                SignatureKey(key: $0.key, counter: $0.counter == 0 || $0.counter == .max ? $0.counter : $0.counter + 1)
            },
            localSignature: try Self.signature("LocalSignatureKey", info))
    }

    // MARK: - Long-term keys

    private static func keys(_ info: KeyFile) throws(Problem) -> [StoredKey] {
        // Since 5.63, BlueZ writes the group under both names.
        let peripheral = ["PeripheralLongTermKey", "SlaveLongTermKey"].first(where: info.has)
        var keys: [StoredKey] = []
        for group in ["LongTermKey", peripheral] {
            guard let group, info.has(group) else { continue }
            keys.append(try key(group, info))
        }
        return keys
    }

    private static func key(_ group: String, _ info: KeyFile) throws(Problem) -> StoredKey {
        guard let key = info.key("Key", in: group) else { throw Problem("Key in [\(group)] is not a 16-octet key") }
        guard let type = info.number("Authenticated", in: group).flatMap(KeyType.init) else {
            throw Problem("Authenticated in [\(group)] is not a number from 0 to 4")
        }
        guard type != .debugP256 else { throw Problem("its key is a debug key, which is public") }
        guard let size: UInt8 = info.number("EncSize", in: group), (7...16).contains(size) else {
            throw Problem("EncSize in [\(group)] is not a number from 7 to 16")
        }
        guard let diversifier: UInt16 = info.number("EDiv", in: group) else {
            throw Problem("EDiv in [\(group)] is not a 16-bit number")
        }
        guard let random = info.random("Rand", in: group) else {
            throw Problem("Rand in [\(group)] is not a 64-bit number")
        }
        guard !type.isP256 || (diversifier == 0 && random == 0) else {
            throw Problem("EDiv and Rand in [\(group)] are not 0, as LE Secure Connections requires")
        }
        // Before BlueZ had two groups, this member stated the role.
        let isOld = ["false", "0"].contains(info.text("Master", in: group))
        return StoredKey(
            key: LongTermKey(key: key, encryptedDiversifier: diversifier, random: random), type: type, size: size,
            isForCentral: group == "LongTermKey" && !isOld)
    }

    // MARK: - Other keys

    private static func identity(_ address: DeviceAddress, _ info: KeyFile) throws(Problem) -> DeviceIdentity? {
        guard info.has("IdentityResolvingKey") else { return nil }
        guard let key = info.key("Key", in: "IdentityResolvingKey") else {
            throw Problem("Key in [IdentityResolvingKey] is not a 16-octet key")
        }
        return DeviceIdentity(address: address, resolvingKey: key)
    }

    private static func signature(_ group: String, _ info: KeyFile) throws(Problem) -> SignatureKey? {
        guard info.has(group) else { return nil }
        guard let key = info.key("Key", in: group) else { throw Problem("Key in [\(group)] is not a 16-octet key") }
        // Older versions stored no counter, because they did not sign.
        guard let counter = UInt32(info.text("Counter", in: group) ?? "0") else {
            throw Problem("Counter in [\(group)] is not a 32-bit number")
        }
        return SignatureKey(key: key, counter: counter)
    }
}
