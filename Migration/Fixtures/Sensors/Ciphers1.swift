import CommonCrypto
import Foundation

/// AES with padding, in one call.
func encrypted(_ message: Data, with key: Data, vector: Data) -> Data? {
    var output = Data(count: message.count + kCCBlockSizeAES128)
    let available = output.count
    var count = 0
    let status = output.withUnsafeMutableBytes { outputBytes in
        message.withUnsafeBytes { messageBytes in
            key.withUnsafeBytes { keyBytes in
                vector.withUnsafeBytes { vectorBytes in
                    CCCrypt(
                        CCOperation(kCCEncrypt), CCAlgorithm(kCCAlgorithmAES), CCOptions(kCCOptionPKCS7Padding),
                        keyBytes.baseAddress, kCCKeySizeAES128, vectorBytes.baseAddress, messageBytes.baseAddress,
                        message.count, outputBytes.baseAddress, available, &count)
                }
            }
        }
    }
    return status == kCCSuccess ? output.prefix(count) : nil
}
