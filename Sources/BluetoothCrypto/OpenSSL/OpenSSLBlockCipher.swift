#if !BoringSSL
import BluetoothSMP
import Synchronization

/// AES-128 with a key that OpenSSL has expanded. The context is locked, because OpenSSL changes it in each call.
final class OpenSSLBlockCipher: BlockCipher {
    private let library: OpenSSL
    private let context: Mutex<OpenSSLObject>

    init(library: OpenSSL, key: UInt128) {
        guard let context = library.cipherContext(key: key.bigEndianOctets) else {
            preconditionFailure("OpenSSL rejected a key of 16 octets")
        }
        self.library = library
        self.context = Mutex(context)
    }

    func encrypt(_ blocks: inout [UInt128]) {
        for index in blocks.indices { blocks[index] = blocks[index].bigEndian }
        let isEncrypted = blocks.withUnsafeMutableBytes { octets in
            context.withLock { library.encrypt(octets, with: $0) }
        }
        precondition(isEncrypted, "OpenSSL rejected whole blocks")
        for index in blocks.indices { blocks[index] = UInt128(bigEndian: blocks[index]) }
    }
}
#endif
