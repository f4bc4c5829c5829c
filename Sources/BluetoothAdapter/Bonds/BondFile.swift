import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost
import BluetoothSMP
import FoundationEssentials

/// A shelf as JSON. Keys are hexadecimal numbers, most significant digit first; addresses have the format of
/// `DeviceAddress`.
struct BondFile: Codable {
    static let version = 1

    /// Why a file cannot be read. The text never contains values from the file, because some of them are keys.
    enum Problem: Error, Equatable {
        case laterVersion
        case damaged(String)
    }

    private struct Header: Decodable {
        let version: Int
    }

    private var version: Int
    private var identity: Identity
    private var controllers: [Text<DeviceAddress>]
    private var bonds: [Entry]

    struct Identity: Codable {
        var address: Text<DeviceAddress>
        var resolvingKey: HexadecimalKey
    }

    struct Entry: Codable {
        var peer: Text<DeviceAddress>
        var address: Text<DeviceAddress>
        var identity: Identity?
        var centralKey: LongTerm?
        var peripheralKey: LongTerm?
        var strength: Strength
        var peerSignature: Signature?
        var localSignature: Signature?
        var subscriptions: [Subscription]?
        var clientSupportedFeatures: UInt8?
        var databaseHash: HexadecimalKey?
        var serviceChanged: UInt16?
        var servedDatabaseHash: HexadecimalKey?
        var attributes: Attributes?
        var name: String?
    }

    struct LongTerm: Codable {
        var key: HexadecimalKey
        var encryptedDiversifier: UInt16
        /// Written as text, because some JSON readers do not preserve 64-bit numbers.
        var random: Text<UInt64>
    }

    struct Strength: Codable {
        var model: AssociationModel
        var usesSecureConnections: Bool
        var keySize: UInt8
    }

    struct Signature: Codable {
        var key: HexadecimalKey
        var counter: UInt32
    }

    struct Subscription: Codable {
        var characteristic: UInt16
        var descriptor: UInt16
        var configuration: UInt16
    }

    // MARK: - Bytes

    static func bytes(of content: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        // Encoding cannot fail, because the content has no floating-point numbers.
        guard let data = try? encoder.encode(content) else { preconditionFailure("bonds are always encodable") }
        return [UInt8](data) + [0x0A]
    }

    static func decode(_ bytes: [UInt8]) throws(Problem) -> BondShelf {
        guard let shelf = try decode(BondFile.self, from: bytes).shelf else {
            throw .damaged("its content is inconsistent")
        }
        return shelf
    }

    /// Decodes content with a `version` that this version of the package supports.
    static func decode<Content: Decodable>(_ type: Content.Type, from bytes: [UInt8]) throws(Problem) -> Content {
        do {
            let data = Data(bytes)
            let version = try JSONDecoder().decode(Header.self, from: data).version
            guard version <= Self.version else { throw Problem.laterVersion }
            guard version == Self.version else { throw Problem.damaged("format version \(version) does not exist") }
            return try JSONDecoder().decode(type, from: data)
        } catch let problem as Problem {
            throw problem
        } catch {
            throw .damaged(bytes.isEmpty ? "it is empty" : describe(error))
        }
    }

    /// Replaces the decoder's description, which may quote the file.
    private static func describe(_ error: any Error) -> String {
        func place(_ path: [any CodingKey]) -> String {
            let names = path.map { key in key.intValue.map { "\($0)" } ?? key.stringValue }
            return names.isEmpty ? "the file" : names.joined(separator: ".")
        }
        return switch error {
        case DecodingError.keyNotFound(let key, let context):
            "\(key.stringValue) is missing in \(place(context.codingPath))"
        case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
            DecodingError.dataCorrupted(let context):
            context.codingPath.isEmpty ? "it is not JSON" : "\(place(context.codingPath)) is invalid"
        default: "it is not JSON"
        }
    }

    // MARK: - Conversions

    init(_ shelf: BondShelf) {
        version = Self.version
        identity = Identity(shelf.identity)
        controllers = shelf.controllers.map { Text($0) }
        bonds = shelf.bonds.map { Entry($0) }
    }

    /// The decoded shelf; nil if the content is inconsistent.
    var shelf: BondShelf? {
        BondShelf(identity.value, controllers: controllers.map(\.value), bonds: bonds.map(\.value))
    }
}

extension BondFile.Entry {
    init(_ bond: Bond) {
        peer = Text(bond.peer.firstAddress)
        address = Text(bond.address)
        identity = bond.identity.map { BondFile.Identity($0) }
        centralKey = bond.centralKey.map { BondFile.LongTerm($0) }
        peripheralKey = bond.peripheralKey.map { BondFile.LongTerm($0) }
        strength = BondFile.Strength(bond.strength)
        peerSignature = bond.peerSignature.map { BondFile.Signature($0) }
        localSignature = bond.localSignature.map { BondFile.Signature($0) }
        subscriptions = bond.subscriptions.isEmpty ? nil : bond.subscriptions.map { BondFile.Subscription($0) }
        let features = bond.clientSupportedFeatures
        clientSupportedFeatures = features.isEmpty ? nil : features.rawValue
        databaseHash = bond.databaseHash.map { HexadecimalKey($0) }
        serviceChanged = bond.serviceChangedHandle?.rawValue
        servedDatabaseHash = bond.servedDatabaseHash.map { HexadecimalKey($0) }
        attributes = bond.attributes.map { Attributes(value: $0) }
        name = bond.name
    }

    var value: Bond {
        Bond(
            peer: PeerID(peer.value), address: address.value, identity: identity?.value,
            centralKey: centralKey?.value, peripheralKey: peripheralKey?.value, strength: strength.value,
            peerSignature: peerSignature?.value, localSignature: localSignature?.value,
            subscriptions: subscriptions?.map(\.value) ?? [],
            clientSupportedFeatures: GATTClientSupportedFeatures(rawValue: clientSupportedFeatures ?? 0),
            databaseHash: databaseHash?.value, serviceChangedHandle: serviceChanged.map { AttributeHandle($0) },
            servedDatabaseHash: servedDatabaseHash?.value, attributes: attributes?.value, name: name)
    }
}

extension BondFile.Strength {
    init(_ strength: KeyStrength) {
        model = strength.model
        usesSecureConnections = strength.usesSecureConnections
        keySize = strength.keySize
    }

    var value: KeyStrength {
        KeyStrength(model: model, usesSecureConnections: usesSecureConnections, keySize: keySize)
    }
}

extension BondFile.Identity {
    init(_ identity: DeviceIdentity) {
        self.init(address: Text(identity.address), resolvingKey: HexadecimalKey(identity.resolvingKey))
    }

    var value: DeviceIdentity { DeviceIdentity(address: address.value, resolvingKey: resolvingKey.value) }
}

extension BondFile.LongTerm {
    init(_ key: LongTermKey) {
        self.init(
            key: HexadecimalKey(key.key), encryptedDiversifier: key.encryptedDiversifier, random: Text(key.random))
    }

    var value: LongTermKey {
        LongTermKey(key: key.value, encryptedDiversifier: encryptedDiversifier, random: random.value)
    }
}

extension BondFile.Signature {
    init(_ key: SignatureKey) { self.init(key: HexadecimalKey(key.key), counter: key.counter) }

    var value: SignatureKey { SignatureKey(key: key.value, counter: counter) }
}

extension BondFile.Subscription {
    init(_ subscription: GATTSubscription) {
        self.init(
            characteristic: subscription.characteristic.rawValue, descriptor: subscription.descriptor.rawValue,
            configuration: subscription.configuration.rawValue)
    }

    var value: GATTSubscription {
        GATTSubscription(
            characteristic: AttributeHandle(characteristic), descriptor: AttributeHandle(descriptor),
            configuration: GATTClientConfiguration(rawValue: configuration))
    }
}
