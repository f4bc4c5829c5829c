import BluetoothBase
import BluetoothGATT
import DBus

/// The objects of an application, as its `GetManagedObjects` describes them.
struct ApplicationObjects {
    struct Service {
        let path: ObjectPath
        let uuid: BluetoothUUID
        let isPrimary: Bool
        let includes: [ObjectPath]
        var characteristics: [Characteristic] = []
    }

    struct Characteristic {
        let path: ObjectPath
        let uuid: BluetoothUUID
        let flags: CharacteristicFlags
        let sockets: ServedCharacteristic.SocketPreference
        var descriptors: [Descriptor] = []
    }

    struct Descriptor {
        let path: ObjectPath
        let uuid: BluetoothUUID
        let permissions: GATTPermissions
    }

    /// The maximum number of objects of an application.
    static let limit = 2048
    private(set) var services: [Service] = []

    init(_ objects: DBusValue) throws(BusError) {
        let entries = objects.entries ?? []
        guard !entries.isEmpty else { throw .failed("No object received") }
        guard entries.count <= Self.limit else { throw .failed("The application has too many objects") }
        var services: [Service] = [], characteristics: [(ObjectPath, Characteristic)] = []
        var descriptors: [(ObjectPath, Descriptor)] = []
        for entry in entries {
            guard let path = entry.key.path else { continue }
            if let properties = entry.value["org.bluez.GattService1"] {
                services.append(try Self.service(path, properties))
            } else if let properties = entry.value["org.bluez.GattCharacteristic1"] {
                guard let parent = properties["Service"]?.path else { throw Self.malformed(path) }
                let flags = try CharacteristicFlags(properties["Flags"]?.texts ?? [])
                let characteristic = Characteristic(
                    path: path, uuid: try Self.uuid(path, properties), flags: flags, sockets: Self.sockets(properties))
                characteristics.append((parent, characteristic))
            } else if let properties = entry.value["org.bluez.GattDescriptor1"] {
                guard let parent = properties["Characteristic"]?.path else { throw Self.malformed(path) }
                let permissions = try CharacteristicFlags.permissions(properties["Flags"]?.texts ?? [])
                descriptors.append(
                    (parent, Descriptor(path: path, uuid: try Self.uuid(path, properties), permissions: permissions)))
            }
        }
        guard !services.isEmpty else { throw .failed("No valid service object found") }
        for (parent, var characteristic) in characteristics {
            characteristic.descriptors = descriptors.filter { $0.0 == characteristic.path }.map(\.1)
            guard let index = services.firstIndex(where: { $0.path == parent }) else { throw Self.malformed(parent) }
            services[index].characteristics.append(characteristic)
        }
        self.services = services
    }

    private static func service(_ path: ObjectPath, _ properties: DBusValue) throws(BusError) -> Service {
        Service(
            path: path, uuid: try uuid(path, properties), isPrimary: properties["Primary"]?.flag ?? true,
            includes: properties["Includes"]?.elements?.compactMap(\.path) ?? [])
    }

    /// As in BlueZ, the properties need only exist.
    private static func sockets(_ properties: DBusValue) -> ServedCharacteristic.SocketPreference {
        var sockets: ServedCharacteristic.SocketPreference = []
        if properties["WriteAcquired"] != nil { sockets.insert(.writes) }
        if properties["NotifyAcquired"] != nil { sockets.insert(.notifications) }
        return sockets
    }

    private static func uuid(_ path: ObjectPath, _ properties: DBusValue) throws(BusError) -> BluetoothUUID {
        guard let uuid = properties["UUID"]?.text.flatMap(BluetoothUUID.init) else { throw malformed(path) }
        return uuid
    }

    private static func malformed(_ path: ObjectPath) -> BusError {
        .failed("The object \(path) lacks a valid UUID or parent")
    }
}

/// The `Flags` of a client's characteristic or descriptor.
struct CharacteristicFlags {
    var properties: GATTCharacteristicProperties = []
    var extended: GATTExtendedProperties = []
    var permissions = GATTPermissions()
    var subscription = GATTPermissions.Requirement.open

    init(_ flags: [String]) throws(BusError) {
        for flag in flags {
            switch flag {
            case "broadcast": properties.insert(.broadcast)
            case "read": read(.open)
            case "write-without-response": write(.writeWithoutResponse, .open)
            case "write": write(.write, .open)
            case "notify": subscribe(.notify, .open)
            case "indicate": subscribe(.indicate, .open)
            case "authenticated-signed-writes":
                properties.insert(.authenticatedSignedWrites)
                permissions.acceptsSignedWrites = true
                permissions.write = max(permissions.write, .encrypted)
            case "extended-properties": properties.insert(.extendedProperties)
            case "reliable-write":
                extended.insert(.reliableWrite)
                permissions.write = max(permissions.write, .open)
            case "writable-auxiliaries": extended.insert(.writableAuxiliaries)
            case "encrypt-read": read(.encrypted)
            case "encrypt-write": write(.write, .encrypted)
            case "encrypt-authenticated-read": read(.authenticated)
            case "encrypt-authenticated-write": write(.write, .authenticated)
            case "secure-read": read(.authenticatedSecureConnections)
            case "secure-write": write(.write, .authenticatedSecureConnections)
            case "encrypt-notify": subscribe(.notify, .encrypted)
            case "encrypt-authenticated-notify": subscribe(.notify, .authenticated)
            case "secure-notify": subscribe(.notify, .authenticatedSecureConnections)
            case "encrypt-indicate": subscribe(.indicate, .encrypted)
            case "encrypt-authenticated-indicate": subscribe(.indicate, .authenticated)
            case "secure-indicate": subscribe(.indicate, .authenticatedSecureConnections)
            // The application sees each write before it takes effect anyway.
            case "authorize": continue
            default: throw .failed("\(flag) is not a flag of a characteristic")
            }
        }
        if !extended.isEmpty { properties.insert(.extendedProperties) }
    }

    /// The permissions of a descriptor with these flags.
    static func permissions(_ flags: [String]) throws(BusError) -> GATTPermissions {
        try CharacteristicFlags(flags).permissions
    }

    private mutating func read(_ requirement: GATTPermissions.Requirement) {
        properties.insert(.read)
        permissions.read = max(permissions.read, requirement)
    }

    private mutating func write(
        _ property: GATTCharacteristicProperties, _ requirement: GATTPermissions.Requirement
    ) {
        properties.insert(property)
        permissions.write = max(permissions.write, requirement)
    }

    private mutating func subscribe(
        _ property: GATTCharacteristicProperties, _ requirement: GATTPermissions.Requirement
    ) {
        properties.insert(property)
        subscription = max(subscription, requirement)
    }
}
