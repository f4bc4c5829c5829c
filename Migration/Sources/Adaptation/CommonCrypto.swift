/// Functions of CommonCrypto, written with swift-crypto. A file gets those that it calls, for Linux only.
enum CommonCrypto {
    fileprivate struct Digest {
        /// The name in CommonCrypto: `SHA256` of `CC_SHA256`.
        let name: String
        let hash: String
        let length: Int
    }

    private static let digests = [
        Digest(name: "MD5", hash: "Insecure.MD5", length: 16), Digest(name: "SHA1", hash: "Insecure.SHA1", length: 20),
        Digest(name: "SHA256", hash: "SHA256", length: 32), Digest(name: "SHA384", hash: "SHA384", length: 48),
        Digest(name: "SHA512", hash: "SHA512", length: 64),
    ]

    /// What belongs to AES in one call.
    private static let ciphers: Set<String> = [
        "CCAlgorithm", "CCCrypt", "CCCryptorStatus", "CCOperation", "CCOptions", "kCCAlgorithmAES",
        "kCCAlgorithmAES128", "kCCAlignmentError", "kCCBlockSizeAES128", "kCCBufferTooSmall", "kCCDecodeError",
        "kCCDecrypt", "kCCEncrypt", "kCCKeySizeAES128", "kCCKeySizeAES192", "kCCKeySizeAES256", "kCCOptionECBMode",
        "kCCOptionPKCS7Padding", "kCCParamError", "kCCSuccess", "kCCUnimplemented",
    ]

    /// Whether names need the module CryptoExtras, which has the block cipher.
    static func needsExtras(_ names: Set<String>) -> Bool { !names.isDisjoint(with: ciphers) }

    /// Whether swift-crypto can replace a name of CommonCrypto.
    static func provides(_ name: String) -> Bool {
        name == "CC_LONG" || name == "CCHmac" || name == "CCHmacAlgorithm" || name.hasPrefix("kCCHmacAlg")
            || ciphers.contains(name) || digests.contains { $0.names.contains(name) }
    }

    /// Whether a name is CommonCrypto's.
    static func isOwn(_ name: String) -> Bool {
        name.hasPrefix("CC_") || name.hasPrefix("kCC") || name.hasPrefix("CCCrypt") || name.hasPrefix("CCHmac")
            || name.hasPrefix("CCKeyDerivation")
    }

    /// The declarations that a file needs for the names that it uses.
    static func declarations(for names: Set<String>) -> String {
        var parts = ["private typealias CC_LONG = UInt32"]
        for digest in digests where !names.isDisjoint(with: digest.names) {
            parts += digest.declarations(for: names)
        }
        if names.contains(where: { $0.hasPrefix("CCHmac") || $0.hasPrefix("kCCHmacAlg") }) { parts.append(hmac) }
        if needsExtras(names) { parts.append(cipher) }
        return "#if !canImport(CommonCrypto)\n// CommonCrypto's functions, with swift-crypto.\n"
            + parts.joined(separator: "\n") + "\n#endif\n"
    }

    private static let cipher = """
        private typealias CCOperation = UInt32
        private typealias CCAlgorithm = UInt32
        private typealias CCOptions = UInt32
        private typealias CCCryptorStatus = Int32
        private let kCCSuccess = 0
        private let kCCParamError = -4300
        private let kCCBufferTooSmall = -4301
        private let kCCAlignmentError = -4303
        private let kCCDecodeError = -4304
        private let kCCUnimplemented = -4305
        private let kCCEncrypt = 0
        private let kCCDecrypt = 1
        private let kCCAlgorithmAES = 0
        private let kCCAlgorithmAES128 = 0
        private let kCCOptionPKCS7Padding = 1
        private let kCCOptionECBMode = 2
        private let kCCBlockSizeAES128 = 16
        private let kCCKeySizeAES128 = 16
        private let kCCKeySizeAES192 = 24
        private let kCCKeySizeAES256 = 32
        /// AES in the modes CBC and ECB.
        private func CCCrypt(
            _ operation: CCOperation, _ algorithm: CCAlgorithm, _ options: CCOptions, _ key: UnsafeRawPointer?,
            _ keyLength: Int, _ vector: UnsafeRawPointer?, _ input: UnsafeRawPointer?, _ inputLength: Int,
            _ output: UnsafeMutableRawPointer?, _ outputAvailable: Int, _ outputMoved: UnsafeMutablePointer<Int>?
        ) -> CCCryptorStatus {
            guard algorithm == 0 else { return CCCryptorStatus(kCCUnimplemented) }
            guard [16, 24, 32].contains(keyLength), operation <= 1 else { return CCCryptorStatus(kCCParamError) }
            let (isPadded, isChained) = (options & 1 != 0, options & 2 == 0)
            let key = Crypto.SymmetricKey(data: UnsafeRawBufferPointer(start: key, count: keyLength))
            var bytes = [UInt8](UnsafeRawBufferPointer(start: input, count: inputLength))
            if operation == 0, isPadded {
                let count = 16 - bytes.count % 16
                bytes += [UInt8](repeating: UInt8(count), count: count)
            }
            guard bytes.count % 16 == 0 else { return CCCryptorStatus(kCCAlignmentError) }
            var previous = vector.map { [UInt8](UnsafeRawBufferPointer(start: $0, count: 16)) } ?? [UInt8](repeating: 0, count: 16)
            for start in stride(from: 0, to: bytes.count, by: 16) {
                var block = Array(bytes[start..<start + 16])
                let encrypted = block
                if operation == 0, isChained { for index in 0..<16 { block[index] ^= previous[index] } }
                do {
                    if operation == 0 {
                        try AES.permute(&block, key: key)
                    } else {
                        try AES.inversePermute(&block, key: key)
                    }
                } catch {
                    return CCCryptorStatus(kCCParamError)
                }
                if operation == 1, isChained { for index in 0..<16 { block[index] ^= previous[index] } }
                previous = operation == 0 ? block : encrypted
                bytes.replaceSubrange(start..<start + 16, with: block)
            }
            if operation == 1, isPadded {
                guard let count = bytes.last, (1...16).contains(count), Int(count) <= bytes.count else {
                    return CCCryptorStatus(kCCDecodeError)
                }
                bytes.removeLast(Int(count))
            }
            outputMoved?.pointee = bytes.count
            guard bytes.count <= outputAvailable else { return CCCryptorStatus(kCCBufferTooSmall) }
            if !bytes.isEmpty { output?.copyMemory(from: bytes, byteCount: bytes.count) }
            return CCCryptorStatus(kCCSuccess)
        }
        """

    private static let hmac = """
        private typealias CCHmacAlgorithm = UInt32
        private let kCCHmacAlgSHA1 = 0
        private let kCCHmacAlgMD5 = 1
        private let kCCHmacAlgSHA256 = 2
        private let kCCHmacAlgSHA384 = 3
        private let kCCHmacAlgSHA512 = 4
        private func CCHmac(
            _ algorithm: CCHmacAlgorithm, _ key: UnsafeRawPointer?, _ keyLength: Int, _ data: UnsafeRawPointer?,
            _ dataLength: Int, _ output: UnsafeMutableRawPointer?
        ) {
            let key = Crypto.SymmetricKey(data: UnsafeRawBufferPointer(start: key, count: keyLength))
            let data = UnsafeRawBufferPointer(start: data, count: dataLength)
            let code: [UInt8]
            switch Int(algorithm) {
            case kCCHmacAlgSHA1: code = Array(Crypto.HMAC<Crypto.Insecure.SHA1>.authenticationCode(for: data, using: key))
            case kCCHmacAlgMD5: code = Array(Crypto.HMAC<Crypto.Insecure.MD5>.authenticationCode(for: data, using: key))
            case kCCHmacAlgSHA384: code = Array(Crypto.HMAC<Crypto.SHA384>.authenticationCode(for: data, using: key))
            case kCCHmacAlgSHA512: code = Array(Crypto.HMAC<Crypto.SHA512>.authenticationCode(for: data, using: key))
            default: code = Array(Crypto.HMAC<Crypto.SHA256>.authenticationCode(for: data, using: key))
            }
            code.withUnsafeBytes { output?.copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
        }
        """
}

extension CommonCrypto.Digest {
    fileprivate var names: Set<String> {
        [
            "CC_\(name)", "CC_\(name)_Init", "CC_\(name)_Update", "CC_\(name)_Final", "CC_\(name)_CTX",
            "CC_\(name)_DIGEST_LENGTH",
        ]
    }

    fileprivate func declarations(for used: Set<String>) -> [String] {
        // One whose contexts are used has none in its name: SHA-384's is that of SHA-512.
        var parts = ["private let CC_\(name)_DIGEST_LENGTH: Int32 = \(length)"]
        if used.contains("CC_\(name)") {
            parts.append(
                """
                @discardableResult
                private func CC_\(name)(
                    _ data: UnsafeRawPointer?, _ length: CC_LONG, _ digest: UnsafeMutablePointer<UInt8>?
                ) -> UnsafeMutablePointer<UInt8>? {
                    let octets = UnsafeRawBufferPointer(start: data, count: Int(length))
                    for (index, octet) in Crypto.\(hash).hash(data: octets).enumerated() { digest?[index] = octet }
                    return digest
                }
                """)
        }
        if !used.isDisjoint(with: ["CC_\(name)_CTX", "CC_\(name)_Init", "CC_\(name)_Update", "CC_\(name)_Final"]) {
            parts.append(
                """
                private struct CC_\(name)_CTX {
                    var hash = Crypto.\(hash)()
                }
                @discardableResult
                private func CC_\(name)_Init(_ context: UnsafeMutablePointer<CC_\(name)_CTX>?) -> Int32 {
                    context?.pointee = CC_\(name)_CTX()
                    return 1
                }
                @discardableResult
                private func CC_\(name)_Update(
                    _ context: UnsafeMutablePointer<CC_\(name)_CTX>?, _ data: UnsafeRawPointer?, _ length: CC_LONG
                ) -> Int32 {
                    context?.pointee.hash.update(bufferPointer: UnsafeRawBufferPointer(start: data, count: Int(length)))
                    return 1
                }
                @discardableResult
                private func CC_\(name)_Final(
                    _ digest: UnsafeMutablePointer<UInt8>?, _ context: UnsafeMutablePointer<CC_\(name)_CTX>?
                ) -> Int32 {
                    guard let context else { return 0 }
                    for (index, octet) in context.pointee.hash.finalize().enumerated() { digest?[index] = octet }
                    return 1
                }
                """)
        }
        return parts
    }
}
