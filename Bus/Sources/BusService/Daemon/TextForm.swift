import DBus
import BluetoothATT
import BluetoothBase

/// Addresses, UUIDs and handles in the forms that BlueZ uses.
enum TextForm {
    /// The maximum length of a device's name in octets (Core 5.4, Vol 3, Part C, 12.1).
    static let nameLimit = 248

    /// A client's name for a device, limited like the name itself; nil for an empty one.
    static func alias(_ text: String) -> String? { text.isEmpty ? nil : BusText.prefix(text, octets: nameLimit) }

    private static let digits = Array("0123456789abcdef".utf8)

    static func octet(_ value: UInt8) -> String {
        String(decoding: [digits[Int(value >> 4)], digits[Int(value & 0xF)]], as: UTF8.self)
    }

    /// Four hexadecimal digits, as in the names of attributes.
    static func handle(_ handle: AttributeHandle) -> String {
        octet(UInt8(handle.rawValue >> 8)) + octet(UInt8(handle.rawValue & 0xFF))
    }

    /// All 36 characters of a UUID, in lower case.
    static func uuid(_ uuid: BluetoothUUID) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(36)
        for (index, half) in [uuid.high, uuid.low].enumerated() {
            for nibble in 0..<16 {
                let position = index * 16 + nibble
                if [8, 12, 16, 20].contains(position) { text.append(UInt8(ascii: "-")) }
                text.append(digits[Int(half >> UInt64(60 - nibble * 4) & 0xF)])
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The octets of an address, most significant first, with this separator between them.
    static func address(_ address: DeviceAddress, separator: Character = ":") -> String {
        stride(from: 40, through: 0, by: -8)
            .map { octet(UInt8(truncatingIfNeeded: address.value >> UInt64($0))).uppercased() }
            .joined(separator: String(separator))
    }

    static func addressType(_ address: DeviceAddress) -> String {
        switch address.kind {
        case .public, .publicIdentity: "public"
        case .random, .randomIdentity: "random"
        }
    }
}
