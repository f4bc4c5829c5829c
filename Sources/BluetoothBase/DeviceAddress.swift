/// The address of a Bluetooth LE device, with its type (Core 5.4, Vol 6, Part B, 1.3).
public struct DeviceAddress: Hashable, Sendable {
    /// Whether an address was assigned by the IEEE or made up by the device. The raw values are those of HCI's
    /// `Peer_Address_Type` (Vol 4, Part E, 7.8.12); 2 and 3 are addresses the controller resolved to an identity.
    public enum Kind: UInt8, Sendable {
        case `public` = 0
        case random = 1
        case publicIdentity = 2
        case randomIdentity = 3
    }

    public let kind: Kind
    /// The 48 bits of the address; the text form shows the most significant octet first.
    public let value: UInt64

    /// Only the lower 48 bits of `value` count.
    @inlinable
    public init(_ value: UInt64, kind: Kind) {
        self.kind = kind
        self.value = value & 0xFFFF_FFFF_FFFF
    }

    /// The sort of random address its two most significant bits tell (Vol 6, Part B, 1.3.2).
    public enum RandomKind: Sendable {
        case `static`, resolvablePrivate, nonResolvablePrivate, reserved
    }

    /// Which sort of random address this is; nil for a public one.
    public var randomKind: RandomKind? {
        guard kind == .random || kind == .randomIdentity else { return nil }
        switch value >> 46 {
        case 0b11: return .static
        case 0b01: return .resolvablePrivate
        case 0b00: return .nonResolvablePrivate
        default: return .reserved
        }
    }

    /// Whether the device can be found again under this address: a public one or a static random one.
    public var isIdentity: Bool { randomKind.map { $0 == .static } ?? true }
}

extension ByteReader {
    /// Reads the six octets of an address, least significant first.
    @inlinable @inline(__always)
    @_lifetime(self: copy self)
    public mutating func readAddress(_ kind: DeviceAddress.Kind) throws(DecodingFailure) -> DeviceAddress {
        DeviceAddress(try readLittleEndian(byteCount: 6), kind: kind)
    }

    /// Reads an address type octet and the six octets of the address behind it.
    @inlinable @inline(__always)
    @_lifetime(self: copy self)
    public mutating func readTypedAddress() throws(DecodingFailure) -> DeviceAddress {
        guard let kind = DeviceAddress.Kind(rawValue: try readUInt8()) else {
            throw DecodingFailure(.invalidValue, at: offset &- 1)
        }
        return try readAddress(kind)
    }
}

extension ByteWriter {
    /// Appends the six octets of an address, least significant first.
    @inlinable
    public mutating func append(_ address: DeviceAddress) {
        append(address.value, byteCount: 6)
    }

    /// Appends an address type octet and the six octets of the address.
    @inlinable
    public mutating func appendTyped(_ address: DeviceAddress) {
        append(address.kind.rawValue)
        append(address)
    }
}

extension DeviceAddress: LosslessStringConvertible {
    /// Reads `C0:11:22:33:44:55`, random, or `00:11:22:33:44:55/P`, public. Without a suffix the address is taken to be
    /// random where its two top bits are those of a static address, else public.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard let digits = parts.first, parts.count <= 2, digits.utf8.count == 17 else { return nil }
        let octets = digits.split(separator: ":", omittingEmptySubsequences: false)
        guard octets.count == 6 else { return nil }
        var value: UInt64 = 0
        for octet in octets {
            guard octet.utf8.count == 2, octet.utf8.allSatisfy(\.isHexDigit), let byte = UInt8(octet, radix: 16)
            else { return nil }
            value = value << 8 | UInt64(byte)
        }
        let kind: Kind
        switch parts.dropFirst().first {
        case nil: kind = value >> 46 == 0b11 ? .random : .public
        case "P", "p", "public": kind = .public
        case "R", "r", "random": kind = .random
        default: return nil
        }
        self.init(value, kind: kind)
    }

    /// Six octets in hexadecimal, most significant first; `/P` marks a public address and `/R` a random one that is
    /// not static, so that `init?(_:)` reads back the same address.
    public var description: String {
        let octets = (0..<6).reversed().map { hexadecimal(UInt8(truncatingIfNeeded: value >> (8 * $0)), digits: 2) }
        switch kind {
        case .public, .publicIdentity: return octets.joined(separator: ":") + "/P"
        case .random, .randomIdentity: return octets.joined(separator: ":") + (value >> 46 == 0b11 ? "" : "/R")
        }
    }
}
