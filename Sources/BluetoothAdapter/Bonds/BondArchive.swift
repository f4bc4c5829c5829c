import BluetoothHost
import BluetoothSMP
import FoundationEssentials

/// The bonds of several identities in one file, to take them to another machine. It contains their keys.
public struct BondArchive: Sendable {
    public var adapters: [(identity: DeviceIdentity, bonds: [Bond])]

    /// The most octets of an archive.
    public static let maximumLength = FileBondStore.maximumLength * 2

    public init(_ adapters: [(identity: DeviceIdentity, bonds: [Bond])]) { self.adapters = adapters }

    private struct Content: Codable {
        var version: Int
        var adapters: [BondFile]
    }

    /// - Parameters:
    ///   - bytes: what `encode` returned.
    ///   - path: where they come from, for the error.
    /// - Throws: `.damaged` or `.laterVersion`.
    public init(decoding bytes: [UInt8], path: String) throws(BondStoreError) {
        do throws(BondFile.Problem) {
            let shelves = try BondFile.decode(Content.self, from: bytes).adapters.map(\.shelf)
            adapters = []
            for shelf in shelves {
                guard let shelf else { throw .damaged("it contradicts itself") }
                adapters.append((shelf.identity, shelf.bonds))
            }
        } catch {
            switch error {
            case .laterVersion: throw BondStoreError.laterVersion(path: path)
            case .damaged(let reason): throw BondStoreError.damaged(path: path, reason: reason, setAside: nil)
            }
        }
    }

    /// - Throws: `.invalid` or `.full` for what no store keeps.
    public func encode() throws(BondStoreError) -> [UInt8] {
        var files: [BondFile] = []
        for (identity, bonds) in adapters {
            var shelf = BondShelf(identity)
            for bond in bonds { try shelf.save(bond, of: identity) }
            files.append(BondFile(shelf))
        }
        return BondFile.bytes(of: Content(version: BondFile.version, adapters: files))
    }
}
