import BluetoothCrypto
import BluetoothLE
import BluetoothCommandLine

/// The keys that a user shares with encrypted BTHome devices.
struct BTHomeKeys {
    /// By the 48 bits of the address: BTHome devices say nothing of its kind.
    private var keys: [UInt64: [UInt8]] = [:]

    /// More lines than anybody has devices.
    private static let maximumSize = 1 << 20

    init() {}

    /// Reads a file.
    ///
    /// - Throws: a usage failure with the file's name, and the number of the line if one is no key.
    init(path: String) throws(CommandFailure) {
        let text = String(decoding: try InputFile.contents(of: path, maximumSize: Self.maximumSize), as: UTF8.self)
        try self.init(text: text, path: path)
    }

    /// - Parameter text: on each line an address and a key. Empty lines, and those that begin with #, are skipped.
    init(text: String, path: String) throws(CommandFailure) {
        for (number, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let words = line.split { $0 == " " || $0 == "\t" }
            if words.isEmpty || line.hasPrefix("#") { continue }
            guard words.count == 2, let address = DeviceAddress(String(words[0])),
                let key = [UInt8](hexadecimal: String(words[1])), key.count == EncryptedBTHome.keyLength
            else {
                throw CommandFailure(
                    .usage,
                    "\(path), line \(number + 1): an address and a key of 32 hexadecimal digits were expected, such as "
                        + "54:48:E6:8F:80:A5 231D39C1D7CC1AB1AEE224CD096DB932")
            }
            keys[address.value] = key
        }
    }

    /// The key that is shared with the device at an address.
    subscript(address: DeviceAddress) -> [UInt8]? { keys[address.value] }

    /// The value in the clear; nil if it is not encrypted, or there is no key that fits.
    func decrypted(_ value: any AdvertisedValue, from address: DeviceAddress) -> (any AdvertisedValue)? {
        guard let value = value as? EncryptedBTHome, let key = self[address] else { return nil }
        return value.decrypted(key: key, address: address, with: AESCCM())
    }
}
