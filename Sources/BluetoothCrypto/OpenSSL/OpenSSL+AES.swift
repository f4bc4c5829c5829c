#if !BoringSSL
extension OpenSSL {
    /// A context that encrypts blocks with AES-128 and a key of 16 octets; nil if the library refuses.
    func cipherContext(key: [UInt8]) -> OpenSSLObject? {
        guard let cipher = OpenSSLObject(fetchCipher(context.pointer, "AES-128-ECB", nil), free: freeCipher),
            let expanded = OpenSSLObject(makeCipherContext(), free: freeCipherContext),
            set(cipher, key, of: expanded)
        else { return nil }
        return expanded
    }

    private func set(
        _ cipher: borrowing OpenSSLObject, _ key: [UInt8], of context: borrowing OpenSSLObject
    ) -> Bool {
        beginEncryption(context.pointer, cipher.pointer, key, nil, nil) == 1
    }

    /// Encrypts whole blocks in place; false if the library refuses.
    func encrypt(_ octets: UnsafeMutableRawBufferPointer, with context: borrowing OpenSSLObject) -> Bool {
        guard let start = octets.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return true }
        var length: CInt = 0
        return encryptOctets(context.pointer, start, &length, start, CInt(octets.count)) == 1 && length == octets.count
    }

    /// AES-CMAC with a key of 16 octets; nil if the library refuses.
    func authenticationCode(key: [UInt8], message: [UInt8]) -> [UInt8]? {
        var code = [UInt8](repeating: 0, count: 16)
        var length = 0
        let result = authenticate(
            context.pointer, "CMAC", nil, "AES-128-CBC", nil, key, key.count, message, message.count, &code, code.count,
            &length)
        return result != nil && length == code.count ? code : nil
    }
}
#endif
