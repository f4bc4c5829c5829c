import BluetoothBase
import BluetoothGAP
import BluetoothHost
import BluetoothUsers
import Foundation

/// The advertisement of an application.
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

    /// The call for it. What does not fit is left out: the end of the name, then services from the last on.
    var request: AdvertisingRequest {
        var advertisement = AdvertisementData()
        advertisement.flags = [.generalDiscoverable, .brEDRNotSupported]
        advertisement.localName = name.map { .complete($0) }
        advertisement.serviceUUIDs = services
        return AdvertisingRequest(advertisement, cutsToFit: true)
    }
}
