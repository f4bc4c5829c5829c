import BluetoothATT
import BluetoothGATT
import BusObjects
import DBus

/// A service of a remote device: `org.bluez.GattService1`.
final class RemoteService {
    /// What was discovered. If it is the same on the next link, clients keep their objects.
    struct Definition: Equatable {
        let service: DiscoveredService
        let includes: [DiscoveredInclude]
        let characteristics: [CharacteristicDefinition]

        init(
            _ service: DiscoveredService, of database: DiscoveredDatabase,
            _ extended: [AttributeHandle: GATTExtendedProperties]
        ) {
            self.service = service
            includes = Array(database.includes(of: service))
            characteristics = database.characteristics(of: service).map { characteristic in
                let descriptors = Array(database.descriptors(of: characteristic))
                let properties = descriptors.first { $0.uuid == .characteristicExtendedProperties }
                return CharacteristicDefinition(
                    characteristic: characteristic, descriptors: descriptors,
                    extended: properties.flatMap { extended[$0.handle] } ?? [])
            }
        }
    }

    struct CharacteristicDefinition: Equatable {
        let characteristic: DiscoveredCharacteristic
        let descriptors: [DiscoveredDescriptor]
        let extended: GATTExtendedProperties
    }

    /// The maximum number of services of a device.
    static let limit = 512

    unowned let device: Device
    let path: ObjectPath
    let definition: Definition
    let characteristics: [RemoteCharacteristic]

    init(_ definition: Definition, of device: Device) {
        self.device = device
        self.definition = definition
        let path = device.path.appending("service" + TextForm.handle(definition.service.startHandle))
        self.path = path
        characteristics = definition.characteristics.map { RemoteCharacteristic($0, below: path, of: device) }
    }

    var information: DiscoveredService { definition.service }

    var handles: ClosedRange<AttributeHandle> {
        information.startHandle...max(information.startHandle, information.endHandle)
    }

    static let interface = Interface<RemoteService>(
        "org.bluez.GattService1",
        properties: [
            Property("Handle", "q") { $0.device.handleValue($0.information.startHandle) },
            Property("UUID", "s") { .string(TextForm.uuid($0.information.uuid)) },
            Property("Device", "o") { .objectPath($0.device.path) },
            Property("Primary", "b") { .boolean($0.information.isPrimary) },
            Property("Includes", "ao") { service in
                .array(
                    of: "o",
                    service.definition.includes.map {
                        .objectPath(service.device.path.appending("service" + TextForm.handle($0.startHandle)))
                    })
            },
        ])

    func export(in tree: ObjectTree) {
        tree.export(self, as: Self.interface, at: path)
        for characteristic in characteristics { characteristic.export(in: tree) }
    }

    /// Removes the objects, the lowest first.
    func remove(from tree: ObjectTree) {
        for characteristic in characteristics { characteristic.remove(from: tree) }
        tree.remove(path)
    }

    func linkEnded() {
        for characteristic in characteristics { characteristic.linkEnded() }
    }

    /// The services are known on a new link.
    func resolved() {
        for characteristic in characteristics { characteristic.resubscribe() }
    }
}
