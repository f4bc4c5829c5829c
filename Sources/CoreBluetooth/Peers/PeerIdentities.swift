import BluetoothBase
import Foundation

/// The identifiers by which applications know peers. They are UUIDs that have no meaning elsewhere, stay the same from
/// run to run, and need no list of all known peers.
///
/// An identifier is the address at which the peer was first met, encrypted with a key of the user who runs this
/// program. It can therefore be decrypted to the address, even if the peer has not been heard in this run.
struct PeerIdentities: Sendable {
    private let cipher: Speck128

    init(key: Speck128.Block) {
        cipher = Speck128(key: key)
    }

    func identifier(for peer: PeerID) -> UUID {
        let address = peer.firstAddress
        let kind: UInt64 = address.kind == .public ? 0 : 1
        let block = cipher.encrypted(Speck128.Block(left: 0, right: kind << 48 | address.value))
        return UUID(left: block.left, right: block.right)
    }

    /// The peer with an identifier; nil if the identifier was not created with this key.
    func peer(for identifier: UUID) -> PeerID? {
        let words = identifier.words
        let block = cipher.decrypted(Speck128.Block(left: words.left, right: words.right))
        guard block.left == 0, block.right >> 48 <= 1 else { return nil }
        let kind: DeviceAddress.Kind = block.right >> 48 == 0 ? .public : .random
        return PeerID(DeviceAddress(block.right & 0xFFFF_FFFF_FFFF, kind: kind))
    }
}

extension UUID {
    /// A UUID of two words in big-endian order.
    fileprivate init(left: UInt64, right: UInt64) {
        self = withUnsafeBytes(of: (left.bigEndian, right.bigEndian)) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }

    fileprivate var words: (left: UInt64, right: UInt64) {
        withUnsafeBytes(of: uuid) {
            (
                UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)),
                UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
    }
}
