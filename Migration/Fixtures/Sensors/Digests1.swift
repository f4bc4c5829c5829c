import CommonCrypto
import Foundation

extension Data {
    /// A digest in one call.
    var sha256: Data {
        var digest = [UInt8](repeating: 0, count: Int(CC_SHA256_DIGEST_LENGTH))
        withUnsafeBytes { _ = CC_SHA256($0.baseAddress, CC_LONG(count), &digest) }
        return Data(digest)
    }
}
