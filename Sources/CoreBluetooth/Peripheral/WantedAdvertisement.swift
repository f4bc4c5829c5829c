import BluetoothBase
import BluetoothGAP
import BluetoothHost
import BluetoothUsers
import Foundation

/// The advertisement that an application has requested.
struct WantedAdvertisement: Equatable, Sendable {
    var name: String?
    var services: [BluetoothUUID]
    /// The keys that are ignored.
    var unused: [String]

    init(_ dictionary: [String: Any]?) {
        name = dictionary?[CBAdvertisementDataLocalNameKey] as? String
        services = (dictionary?[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID])?.map(\.bluetoothUUID) ?? []
        let used: Set = [CBAdvertisementDataLocalNameKey, CBAdvertisementDataServiceUUIDsKey]
        unused = dictionary?.keys.filter { !used.contains($0) } ?? []
    }

    /// The request for the adapter. Data that does not fit is omitted: first the end of the name, then services,
    /// starting with the last.
    var request: AdvertisingRequest {
        var advertisement = AdvertisementData()
        advertisement.flags = [.generalDiscoverable, .brEDRNotSupported]
        advertisement.localName = name.map { .complete($0) }
        advertisement.serviceUUIDs = services
        return AdvertisingRequest(advertisement, cutsToFit: true)
    }
}
