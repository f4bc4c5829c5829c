import BluetoothBase

/// The known formats of advertised values.
public enum AdvertisedFormats {
    /// All known formats. If several formats use the same container, the first one that can decode the value is used.
    public static let all: [any AdvertisedValue.Type] = [
        IBeacon.self, EddystoneUID.self, EddystoneURL.self, EddystoneTLM.self, BTHome.self, EncryptedBTHome.self,
        RuuviTag3.self, RuuviTag5.self, ExposureNotification.self,
    ]

    /// Decodes the data of a container. Returns nil if the data has none of the known formats.
    public static func value(of data: Span<UInt8>, in container: AdvertisedContainer) -> (any AdvertisedValue)? {
        guard let formats = byContainer[container] else { return nil }
        for format in formats {
            if let value = try? format.init(decoding: data) { return value }
        }
        return nil
    }

    /// Decodes the data of a container. Returns nil if the data has none of the known formats.
    public static func value(
        of data: some Collection<UInt8>, in container: AdvertisedContainer
    ) -> (any AdvertisedValue)? {
        value(of: Array(data).span, in: container)
    }

    private static let byContainer = Dictionary(grouping: all) { $0.container }
}
