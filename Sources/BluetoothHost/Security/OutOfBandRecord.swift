import BluetoothBase
import BluetoothGAP
import BluetoothSMP

/// Out-of-band data in its exchange format, for example on an NFC tag or as a printed code: AD structures (Core
/// Specification Supplement, Part A, 1.6 to 1.8 and 1.16).
public struct OutOfBandRecord: Hashable, Sendable {
    /// The device that the data belongs to; nil if the record does not contain an address.
    public var address: DeviceAddress?
    /// The values for pairing: a Temporary Key, or the confirm and random values for LE Secure Connections.
    public var data: OutOfBandData

    /// Creates a record for `encode(into:)`. Without an address, the record contains only the data.
    public init(_ data: OutOfBandData, of address: DeviceAddress? = nil) {
        self.data = data
        self.address = address
    }

    private static let temporaryKey = ADType(rawValue: 0x10)
    private static let deviceAddress = ADType(rawValue: 0x1B)
    private static let confirmationValue = ADType(rawValue: 0x22)
    private static let randomValue = ADType(rawValue: 0x23)

    /// Decodes a record. AD structures of other types are ignored. A temporary key is ignored if there is data for LE
    /// Secure Connections, which provides better protection.
    ///
    /// - Throws: `DecodingFailure` if the data is missing or incomplete, or if a structure has the wrong length.
    public init(decoding bytes: Span<UInt8>) throws(DecodingFailure) {
        var temporaryKey, confirm, random: UInt128?
        var structures = ADStructures(bytes)
        while let structure = structures.next() {
            switch structure.type {
            case Self.temporaryKey: temporaryKey = try Self.number(structure.data)
            case Self.confirmationValue: confirm = try Self.number(structure.data)
            case Self.randomValue: random = try Self.number(structure.data)
            case Self.deviceAddress: address = try Self.address(structure.data)
            default: break
            }
        }
        if let confirm, let random {
            data = .secureConnections(confirm: confirm, random: random)
        } else if let temporaryKey, confirm == nil, random == nil {
            data = .temporaryKey(temporaryKey)
        } else {
            throw DecodingFailure(.truncated(missing: 18), at: bytes.count)
        }
    }

    /// Encodes the record as AD structures.
    public func encode(into writer: inout ByteWriter) {
        if let address {
            Self.append(
                Self.deviceAddress, UInt128(address.value) | UInt128(address.kind.rawValue & 1) << 48, 7, &writer)
        }
        switch data {
        case .temporaryKey(let key): Self.append(Self.temporaryKey, key, 16, &writer)
        case .secureConnections(let confirm, let random):
            Self.append(Self.confirmationValue, confirm, 16, &writer)
            Self.append(Self.randomValue, random, 16, &writer)
        }
    }

    private static func append(_ type: ADType, _ value: UInt128, _ length: Int, _ writer: inout ByteWriter) {
        writer.append(UInt8(length + 1))
        writer.append(type.rawValue)
        for index in 0..<length { writer.append(UInt8(truncatingIfNeeded: value >> (8 * index))) }
    }

    private static func number(_ bytes: Span<UInt8>) throws(DecodingFailure) -> UInt128 {
        guard bytes.count == 16 else { throw DecodingFailure(.invalidLength, at: 0) }
        return bytes.indices.reduce(0) { $0 | UInt128(bytes[$1]) << (8 * $1) }
    }

    private static func address(_ bytes: Span<UInt8>) throws(DecodingFailure) -> DeviceAddress {
        guard bytes.count == 7 else { throw DecodingFailure(.invalidLength, at: 0) }
        let value = (0..<6).reduce(UInt64(0)) { $0 | UInt64(bytes[$1]) << (8 * $1) }
        return DeviceAddress(value, kind: bytes[6] & 1 == 0 ? .public : .random)
    }
}
