import BluetoothLE
import Foundation

/// What an application wants advertised.
struct WantedAdvertisement: Equatable, Sendable {
    var name: String?
    var services: [BluetoothUUID]
    /// The keys that nothing comes of.
    var unused: [String]

    init(_ dictionary: [String: Any]?) {
        name = dictionary?[CBAdvertisementDataLocalNameKey] as? String
        services = (dictionary?[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID])?.map(\.bluetoothUUID) ?? []
        let used: Set = [CBAdvertisementDataLocalNameKey, CBAdvertisementDataServiceUUIDsKey]
        unused = dictionary?.keys.filter { !used.contains($0) } ?? []
    }

    /// What several want: the first name, and all services. Nil where nobody wants anything.
    init?(of all: [WantedAdvertisement]) {
        guard let first = all.first else { return nil }
        self = first
        for other in all.dropFirst() {
            name = name ?? other.name
            services += other.services.filter { !services.contains($0) }
        }
    }

    /// As much of it as fits: the name may lose its end, then services go, from the last on.
    var fitting: AdvertisementData {
        var advertisement = AdvertisementData()
        advertisement.flags = [.generalDiscoverable, .brEDRNotSupported]
        advertisement.localName = localName
        advertisement.serviceUUIDs = Array(services.prefix(Self.mostServices))
        while !advertisement.serviceUUIDs.isEmpty, !advertisement.fitsWhole { advertisement.serviceUUIDs.removeLast() }
        advertisement.isServiceListIncomplete = advertisement.serviceUUIDs.count < services.count
        return advertisement
    }

    /// The name, as much of it as a scan response holds.
    private var localName: AdvertisementData.LocalName? {
        guard let name else { return nil }
        var short = ""
        for character in name {
            guard short.utf8.count + character.utf8.count <= Self.longestName else { break }
            short.append(character)
        }
        guard !short.isEmpty else { return nil }
        return short == name ? .complete(name) : .shortened(short)
    }

    /// An AD structure of 31 octets less its length and type.
    private static let longestName = 29
    /// No more than this fit into an advertisement and its scan response, however short.
    private static let mostServices = 31
}

extension AdvertisementData {
    /// Whether nothing of it is lost in an advertisement and its scan response.
    fileprivate var fitsWhole: Bool {
        guard let payload = try? AdvertisingPayload(self) else { return false }
        let (data, response) = (payload.advertisingData, payload.scanResponseData)
        return AdvertisementData(advertisingData: data.span, scanResponseData: response.span).localName == localName
    }
}
