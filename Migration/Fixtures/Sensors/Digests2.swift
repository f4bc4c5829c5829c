import CommonCrypto
import Foundation

/// A digest in parts.
func checksum(of chunks: [Data]) -> String {
    var context = CC_MD5_CTX()
    CC_MD5_Init(&context)
    for chunk in chunks {
        chunk.withUnsafeBytes { (bytes: UnsafeRawBufferPointer) in
            _ = CC_MD5_Update(&context, bytes.baseAddress, CC_LONG(chunk.count))
        }
    }
    let digest = UnsafeMutablePointer<UInt8>.allocate(capacity: Int(CC_MD5_DIGEST_LENGTH))
    defer { digest.deallocate() }
    CC_MD5_Final(digest, &context)
    return (0..<Int(CC_MD5_DIGEST_LENGTH)).map { String(format: "%02x", digest[$0]) }.joined()
}
