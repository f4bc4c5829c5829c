import BluetoothBase

/// The formats of advertised values that are known.
public enum AdvertisedFormats {
    /// All of them. Of several in the same container, the first that decodes a value counts.
    public static let all: [any AdvertisedValue.Type] = [
        IBeacon.self, EddystoneUID.self, EddystoneURL.self, EddystoneTLM.self, BTHome.self, EncryptedBTHome.self,
        RuuviTag3.self, RuuviTag5.self, ExposureNotification.self,
    ]

    /// The value in the data of a container; nil if it has none of the formats.
    public static func value(in container: AdvertisedContainer, _ data: Span<UInt8>) -> (any AdvertisedValue)? {
        guard let formats = byContainer[container] else { return nil }
        for format in formats {
            if let value = try? format.init(decoding: data) { return value }
        }
        return nil
    }

    /// The value in the data of a container; nil if it has none of the formats.
    public static func value(in container: AdvertisedContainer, _ data: [UInt8]) -> (any AdvertisedValue)? {
        value(in: container, data.span)
    }

    private static let byContainer = Dictionary(grouping: all) { $0.container }
}
