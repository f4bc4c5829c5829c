import BluetoothBase
import Crypto
import CryptoExtras
import Foundation

/// The identifiers by which applications know peers. They are UUIDs that have no meaning elsewhere, stay the same from
/// run to run, and need no list of all known peers.
///
/// An identifier is the address at which the peer was first met, encrypted with a key of the user who runs this
/// program. It can therefore be decrypted to the address, even if the peer has not been heard in this run.
struct PeerIdentities: Sendable {
    private let key: SymmetricKey

    init(key: SymmetricKey) {
        self.key = key
    }

    func identifier(for peer: PeerID) -> UUID {
        let address = peer.firstAddress
        var block = [UInt8](repeating: 0, count: 16)
        for index in 0..<6 { block[index] = UInt8(truncatingIfNeeded: address.value >> (8 * UInt64(index))) }
        block[6] = address.kind == .public ? 0 : 1
        return UUID(octets: transformed(block, by: AES.permute))
    }

    /// The peer with an identifier; nil if the identifier was not created with this key.
    func peer(for identifier: UUID) -> PeerID? {
        let block = transformed(identifier.octets, by: AES.inversePermute)
        guard block[6] <= 1, block[7...].allSatisfy({ $0 == 0 }) else { return nil }
        let value = block[..<6].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return PeerID(DeviceAddress(value, kind: block[6] == 0 ? .public : .random))
    }

    private func transformed(
        _ block: [UInt8], by body: (inout [UInt8], SymmetricKey) throws -> Void
    ) -> [UInt8] {
        var block = block
        do { try body(&block, key) } catch { preconditionFailure("AES-128 accepts any block of 16 octets: \(error)") }
        return block
    }
}

extension UUID {
    fileprivate init(octets: [UInt8]) {
        self = octets.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }

    fileprivate var octets: [UInt8] { withUnsafeBytes(of: uuid) { Array($0) } }
}
