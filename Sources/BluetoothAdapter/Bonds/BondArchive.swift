import BluetoothHost
import BluetoothSMP
import FoundationEssentials

/// The bonds of several identities in one file, for moving them to another machine. The file contains their keys.
public struct BondArchive: Sendable {
    /// The local identities, each with the bonds that were made with it.
    public var adapters: [(identity: DeviceIdentity, bonds: [Bond])]

    /// The maximum length of an archive, in octets.
    public static let maximumLength = FileBondStore.maximumLength * 2

    /// Creates an archive with this content. The bonds are checked by `encode()`.
    public init(_ adapters: [(identity: DeviceIdentity, bonds: [Bond])]) { self.adapters = adapters }

    private struct Content: Codable {
        var version: Int
        var adapters: [BondFile]
    }

    /// Decodes an archive.
    ///
    /// - Parameters:
    ///   - bytes: the bytes that `encode` returned.
    ///   - path: the path they were read from, for the error.
    /// - Throws: `.damaged` or `.laterVersion`.
    public init(decoding bytes: [UInt8], path: String) throws(BondStoreError) {
        do throws(BondFile.Problem) {
            let shelves = try BondFile.decode(Content.self, from: bytes).adapters.map(\.shelf)
            adapters = []
            for shelf in shelves {
                guard let shelf else { throw .damaged("its content is inconsistent") }
                adapters.append((shelf.identity, shelf.bonds))
            }
        } catch {
            switch error {
            case .laterVersion: throw BondStoreError.laterVersion(path: path)
            case .damaged(let reason): throw BondStoreError.damaged(path: path, reason: reason, setAside: nil)
            }
        }
    }

    /// Encodes the archive.
    ///
    /// - Throws: `.invalid` or `.full` for bonds that no store accepts.
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
