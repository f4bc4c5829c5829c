import BluetoothBase
import BluetoothCrypto
import BluetoothLE
import BluetoothCommandLine
import BluetoothValues

/// The keys that a user shares with encrypted BTHome devices.
struct BTHomeKeys {
    /// Keyed by the 48 bits of the address, because BTHome devices do not state the address type.
    private var keys: [UInt64: [UInt8]] = [:]

    /// The maximum size of a file, with room for more devices than anyone has.
    private static let maximumSize = 1 << 20

    init() {}

    /// Reads a file of keys.
    ///
    /// - Throws: a usage failure with the name of the file and, if a line is invalid, its number; `.failure` if the
    ///   ciphers cannot be used.
    init(path: String) throws(CommandFailure) {
        if let reason = LibraryToolbox.unavailability { throw CommandFailure(.failure, "\(reason)") }
        let text = String(decoding: try InputFile.contents(of: path, maximumSize: Self.maximumSize), as: UTF8.self)
        try self.init(text: text, path: path)
    }

    /// - Parameter text: lines with an address and a key each. Empty lines, and lines that begin with #, are skipped.
    init(text: String, path: String) throws(CommandFailure) {
        for (number, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let words = line.split { $0 == " " || $0 == "\t" }
            if words.isEmpty || line.hasPrefix("#") { continue }
            guard words.count == 2, let address = DeviceAddress(String(words[0])),
                let key = [UInt8](hexadecimal: String(words[1])), key.count == EncryptedBTHome.keyLength
            else {
                throw CommandFailure(
                    .usage,
                    "\(path), line \(number + 1): expected an address and a key of 32 hexadecimal digits, such as "
                        + "54:48:E6:8F:80:A5 231D39C1D7CC1AB1AEE224CD096DB932")
            }
            keys[address.value] = key
        }
    }

    /// The key that is shared with the device at the given address.
    subscript(address: DeviceAddress) -> [UInt8]? { keys[address.value] }

    /// The decrypted value; nil if the value is not encrypted, or if there is no matching key.
    func decrypted(_ value: any AdvertisedValue, from address: DeviceAddress) -> (any AdvertisedValue)? {
        guard let value = value as? EncryptedBTHome, let key = self[address] else { return nil }
        return value.decrypted(key: key, address: address, with: AESCCM())
    }
}
