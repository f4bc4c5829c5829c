import BluetoothCrypto
import BluetoothLE
import BluetoothNumbers

/// What a device's data says, decoded once for each change of it.
struct DeviceLook {
    /// The complete name if there is one. It may contain anything.
    var name: String?
    /// Who made the device or its software, as far as its data says.
    var vendor: String?
    var advertisement = AdvertisementData()
    /// What is in known formats.
    var values: [any AdvertisedValue] = []

    init() {}

    init(_ sighting: Sighting, keys: BTHomeKeys) {
        advertisement = sighting.advertisement
        name = sighting.name
        let members = advertisement.serviceUUIDs + advertisement.serviceData.map(\.uuid)
        vendor =
            advertisement.manufacturerData.lazy.compactMap { AssignedNumbers.name(ofCompany: $0.companyID) }.first
            ?? members.lazy.compactMap { AssignedNumbers.name(ofMember: $0) }.first
        for element in advertisement.manufacturerData {
            if let value = AdvertisedFormats.value(in: .manufacturerData(element.companyID), element.data) {
                values.append(value)
            }
        }
        for element in advertisement.serviceData {
            guard let value = AdvertisedFormats.value(in: .serviceData(element.uuid), element.data) else { continue }
            values.append(keys.decrypted(value, from: sighting.address) ?? value)
        }
    }

    /// The services that a device is looked for by.
    var matchableServices: Set<BluetoothUUID> {
        Set(advertisement.serviceUUIDs).union(advertisement.serviceData.map(\.uuid))
    }

    /// The name of a service, or of whoever was given its UUID; else the UUID.
    static func name(of service: BluetoothUUID) -> String {
        AssignedNumbers.name(ofService: service) ?? AssignedNumbers.name(ofMember: service) ?? service.description
    }
}
