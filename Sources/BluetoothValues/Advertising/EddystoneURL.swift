import BluetoothBase

/// Eddystone-URL: an address on the Web (Eddystone Protocol Specification, Eddystone-URL).
public struct EddystoneURL: AdvertisedValue {
    public static let formatName = "eddystone-url"
    public static let container = AdvertisedContainer.serviceData(Eddystone.service)

    /// The codes of the beginnings of an address, by index.
    private static let schemes = ["http://www.", "https://www.", "http://", "https://"]
    /// The codes of parts of the rest, by index: each before those that it begins with.
    private static let expansions = [
        ".com/", ".org/", ".edu/", ".net/", ".info/", ".biz/", ".gov/", ".com", ".org", ".edu", ".net", ".info", ".biz",
        ".gov",
    ]
    /// The most octets behind the scheme.
    private static let maximumLength = 17
    /// The characters that stand for themselves.
    private static let graphic: ClosedRange<UInt8> = 0x21...0x7E

    /// The signal strength at a distance of 0 m, in dBm: what is measured at one metre, and 41 dB more.
    public var txPower: Int8
    /// The address: `http://` or `https://`, and characters of ASCII without spaces.
    public let url: String
    /// The scheme's code and what follows it.
    private let encodedURL: [UInt8]

    /// Nil if the address begins otherwise, has other characters, or takes more than 17 octets behind its scheme, most
    /// of which are single characters.
    public init?(url: String, txPower: Int8) {
        guard let encoded = Self.encode(url) else { return nil }
        self.txPower = txPower
        self.url = url
        encodedURL = encoded
    }

    private static func encode(_ url: String) -> [UInt8]? {
        // The longest first: the others may be the beginning of it.
        guard let scheme = schemes.firstIndex(where: { url.utf8.starts(with: $0.utf8) }) else { return nil }
        var encoded = [UInt8(scheme)]
        var rest = Array(url.utf8.dropFirst(schemes[scheme].utf8.count))[...]
        while let character = rest.first {
            if let code = expansions.firstIndex(where: { rest.starts(with: $0.utf8) }) {
                encoded.append(UInt8(code))
                rest = rest.dropFirst(expansions[code].utf8.count)
            } else if graphic.contains(character) {
                encoded.append(character)
                rest = rest.dropFirst()
            } else {
                return nil
            }
        }
        return (2...maximumLength + 1).contains(encoded.count) ? encoded : nil
    }

    public init(decoding bytes: Span<UInt8>) throws(DecodingFailure) {
        var reader = ByteReader(bytes)
        try reader.read(.url, length: 4)
        let power = try reader.readInt8()
        let scheme = Int(try reader.readUInt8())
        guard scheme < Self.schemes.count else { throw DecodingFailure(.invalidValue, at: 2) }
        var url = Self.schemes[scheme]
        while reader.remaining > 0 {
            let code = try reader.readUInt8()
            if Int(code) < Self.expansions.count {
                url += Self.expansions[Int(code)]
            } else if Self.graphic.contains(code) {
                url.unicodeScalars.append(Unicode.Scalar(code))
            } else {
                throw DecodingFailure(.invalidValue, at: reader.offset - 1)
            }
        }
        // What was encoded otherwise than we would may be longer than we would take.
        guard let value = Self(url: url, txPower: power) else { throw DecodingFailure(.invalidLength, at: 3) }
        self = value
    }

    public func encode(into writer: inout ByteWriter) {
        writer.append(Eddystone.Frame.url.rawValue)
        writer.append(txPower)
        writer.append(encodedURL)
    }

    public var fields: [AdvertisedField] {
        [AdvertisedField("url", .text(url)), AdvertisedField("tx_power_at_0_m", txPower, unit: "dBm")]
    }
}
