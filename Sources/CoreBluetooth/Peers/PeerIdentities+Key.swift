import Crypto
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

    private static func key(in directory: URL) -> SymmetricKey {
        let file = directory.appendingPathComponent("identifiers.key")
        if let data = try? Data(contentsOf: file), data.count == 16 { return SymmetricKey(data: data) }
        let key = SymmetricKey(size: .bits128)
        do {
            try FileManager.default.createDirectory(
                at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            let data = key.withUnsafeBytes { Data($0) }
            do {
                // Another process may be creating a key at the same time: the first one is used.
                try data.write(to: file, options: .withoutOverwriting)
            } catch {
                guard let other = try? Data(contentsOf: file), other.count == 16 else { throw error }
                return SymmetricKey(data: other)
            }
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        } catch {
            BluetoothEnvironment.logger.warning(
                "the identifiers of peripherals will change in the next run: cannot write \(file.path): \(error)")
        }
        return key
    }
}
