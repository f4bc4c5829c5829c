import Foundation
import Logging
import Synchronization

extension PeerIdentities {
    private static let known = Mutex<[URL: PeerIdentities]>([:])

    /// The identities whose key is in a directory. If there is no key yet, it is created.
    static func kept(in directory: URL) -> PeerIdentities {
        known.withLock { known in
            if let identities = known[directory] { return identities }
            let identities = PeerIdentities(key: key(in: directory))
            known[directory] = identities
            return identities
        }
    }

    private static func key(in directory: URL) -> Speck128.Block {
        let file = directory.appendingPathComponent("identifiers.key")
        if let data = try? Data(contentsOf: file), let key = Speck128.Block(data) { return key }
        let key = Speck128.Block(left: .random(in: 0 ... .max), right: .random(in: 0 ... .max))
        do {
            try FileManager.default.createDirectory(
                at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            do {
                // Another process may be creating a key at the same time: the first one is used.
                try key.data.write(to: file, options: .withoutOverwriting)
            } catch {
                guard let data = try? Data(contentsOf: file), let other = Speck128.Block(data) else { throw error }
                return other
            }
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        } catch {
            BluetoothEnvironment.logger.warning(
                "the identifiers of peripherals will change in the next run: cannot write \(file.path): \(error)")
        }
        return key
    }
}

extension Speck128.Block {
    /// The block in a file of 16 octets; nil if `data` has another length.
    fileprivate init?(_ data: Data) {
        guard data.count == 16 else { return nil }
        self = data.withUnsafeBytes {
            Self(
                left: UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)),
                right: UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
        }
    }

    fileprivate var data: Data { withUnsafeBytes(of: (left.bigEndian, right.bigEndian)) { Data($0) } }
}
