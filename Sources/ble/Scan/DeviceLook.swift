import BluetoothCrypto
import BluetoothHost
import BluetoothLE
import BluetoothNumbers
import BluetoothSMP
import BluetoothValues

/// The contents of a device's advertising data, decoded once after each change.
struct DeviceLook {
    /// The complete name if there is one. It may contain any characters.
    var name: String?
    /// The identity address of a bonded device, whatever address it uses.
    var identity: DeviceAddress?
    /// The manufacturer of the device or its software, if its data states one.
    var vendor: String?
    var advertisement = AdvertisementData()
    /// The values in known formats.
    var values: [any AdvertisedValue] = []

    init() {}

    /// - Parameter bond: the bond with the device, if any.
    init(_ sighting: Sighting, keys: BTHomeKeys, bond: Bond? = nil) {
        advertisement = sighting.advertisement
        name = sighting.name ?? bond?.name
        identity = bond?.identity?.address
        let members = advertisement.serviceUUIDs + advertisement.serviceData.map(\.uuid)
        vendor =
            advertisement.manufacturerData.lazy.compactMap { AssignedNumbers.name(ofCompany: $0.companyID) }.first
            ?? members.lazy.compactMap { AssignedNumbers.name(ofMember: $0) }.first
        for element in advertisement.manufacturerData {
            if let value = AdvertisedFormats.value(of: element.data, in: .manufacturerData(element.companyID)) {
                values.append(value)
            }
        }
        for element in advertisement.serviceData {
            guard let value = AdvertisedFormats.value(of: element.data, in: .serviceData(element.uuid)) else {
                continue
            }
            values.append(keys.decrypted(value, from: sighting.address) ?? value)
        }
    }

    /// The services by which a scan can find the device.
    var matchableServices: Set<BluetoothUUID> {
        Set(advertisement.serviceUUIDs).union(advertisement.serviceData.map(\.uuid))
    }

    /// The name of a service, or of the member that its UUID was assigned to; otherwise the UUID.
    static func name(of service: BluetoothUUID) -> String {
        AssignedNumbers.name(ofService: service) ?? AssignedNumbers.name(ofMember: service) ?? service.description
    }
}

/// Decodes what devices advertise, for a scan.
struct LookReader {
    private let services: [BluetoothUUID]
    private let keys: BTHomeKeys
    /// The bonds of the adapter, by peer.
    private var bonds: [PeerID: Bond] = [:]

    /// - Parameter services: the services that the scan is for. If empty, all services.
    init(services: [BluetoothUUID], keys: BTHomeKeys) {
        self.services = services
        self.keys = keys
    }

    mutating func know(_ bonds: [Bond]) {
        self.bonds = Dictionary(bonds.map { ($0.peer, $0) }) { first, _ in first }
    }

    func look(at sighting: Sighting) -> DeviceLook { DeviceLook(sighting, keys: keys, bond: bonds[sighting.peer]) }

    /// Whether the scan is for one of the services.
    func matches(_ look: DeviceLook) -> Bool {
        services.isEmpty || !look.matchableServices.isDisjoint(with: services)
    }
}
