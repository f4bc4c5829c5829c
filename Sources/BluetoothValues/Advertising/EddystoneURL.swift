import BluetoothBase

/// Eddystone-URL: a web address (Eddystone Protocol Specification, Eddystone-URL).
public struct EddystoneURL: AdvertisedValue {
    /// The name of the format: `eddystone-url`.
    public static let formatName = "eddystone-url"
    /// Service data with Eddystone's 16-bit UUID 0xFEAA.
    public static let container = AdvertisedContainer.serviceData(Eddystone.service)

    /// The URL schemes; the index is the code.
    private static let schemes = ["http://www.", "https://www.", "http://", "https://"]
    /// The expansions for the rest of the URL; the index is the code. Longer expansions precede their own prefixes.
    private static let expansions = [
        ".com/", ".org/", ".edu/", ".net/", ".info/", ".biz/", ".gov/", ".com", ".org", ".edu", ".net", ".info", ".biz",
        ".gov",
    ]
    /// The maximum number of octets after the scheme.
    private static let maximumLength = 17
    /// The characters that are encoded as themselves.
    private static let graphic: ClosedRange<UInt8> = 0x21...0x7E

    /// The signal strength at a distance of 0 m in dBm, which is 41 dB more than the strength measured at 1 m.
    public var txPower: Int8
    /// The URL: `http://` or `https://`, followed by ASCII characters without spaces.
    public let url: String
    /// The code of the scheme and the encoded rest of the URL.
    private let encodedURL: [UInt8]

    /// Encodes a URL. Returns nil if its scheme or one of its characters is not allowed, if nothing follows the scheme,
    /// or if the encoding of the rest exceeds 17 octets. Common endings such as `.com/` take one octet.
    public init?(url: String, txPower: Int8) {
        guard let encoded = Self.encode(url) else { return nil }
        self.txPower = txPower
        self.url = url
        encodedURL = encoded
    }

    private static func encode(_ url: String) -> [UInt8]? {
        // The list contains longer schemes first, because shorter ones may be their prefixes.
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

    /// Decodes a frame. Throws `.invalidValue` for another frame type, an unknown scheme or a reserved code, and
    /// `.invalidLength` if the URL is too long.
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
        // A URL that was not encoded optimally may exceed the limit.
        guard let value = Self(url: url, txPower: power) else { throw DecodingFailure(.invalidLength, at: 3) }
        self = value
    }

    /// Appends the frame with the URL in its shortest encoding.
    public func encode(into writer: inout ByteWriter) {
        writer.append(Eddystone.Frame.url.rawValue)
        writer.append(txPower)
        writer.append(encodedURL)
    }

    /// The URL as text, and the signal strength at 0 m.
    public var fields: [AdvertisedField] {
        [AdvertisedField("url", .text(url)), AdvertisedField("tx_power_at_0_m", txPower, unit: "dBm")]
    }
}
