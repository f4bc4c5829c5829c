import CommonCrypto
import Foundation

struct Signer {
    let key: [UInt8]

    /// A keyed code, and an older digest.
    func signature(of message: Data) -> Data {
        var code = Data(count: Int(CC_SHA1_DIGEST_LENGTH))
        let bytes = [UInt8](message)
        code.withUnsafeMutableBytes {
            CCHmac(CCHmacAlgorithm(kCCHmacAlgSHA1), key, key.count, bytes, bytes.count, $0.baseAddress)
        }
        var plain = [UInt8](repeating: 0, count: Int(CC_SHA1_DIGEST_LENGTH))
        CC_SHA1(bytes, CC_LONG(bytes.count), &plain)
        return code + plain
    }
}
