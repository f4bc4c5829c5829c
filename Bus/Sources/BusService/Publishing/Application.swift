import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost
import BluetoothUsers
import BusObjects
import DBus
import Glibc

/// A client's GATT application: its services are in the database as long as the client exists, and its objects are
/// asked for each value.
final class Application {
    /// An attribute of the application.
    struct Attribute {
        let path: ObjectPath
        let interface: String
    }

    private struct Published {
        let declaration: AttributeHandle
        let range: ClosedRange<AttributeHandle>
    }

    private unowned let client: Client
    private let objects: ApplicationObjects
    private var published: [Published] = []
    private var isWithdrawn = false
    private var attributes: [AttributeHandle: Attribute] = [:]
    private var valueHandles: [ObjectPath: AttributeHandle] = [:]
    private var characteristics: [AttributeHandle: ServedCharacteristic] = [:]
    /// The calls to the client that wait for an answer.
    private var calls: [UInt64: BusConnection.PendingCall] = [:]
    private var lastCall: UInt64 = 0

    /// How long the application may take for a value. The peer waits 30 seconds.
    static let timeout = Duration.seconds(10)

    init(_ objects: DBusValue, _ client: Client) throws(BusError) {
        self.client = client
        self.objects = try ApplicationObjects(objects)
    }

    var serviceUUIDs: [BluetoothUUID] { published.isEmpty ? [] : objects.services.map(\.uuid) }

    static let characteristicInterface = "org.bluez.GattCharacteristic1"

    /// Whether an object is a characteristic of the application.
    func contains(_ path: ObjectPath) -> Bool { valueHandles[path] != nil }

    func contains(_ handle: AttributeHandle) -> Bool { published.contains { $0.range.contains(handle) } }

    // MARK: - Publishing

    /// Adds the services to the database, included ones first.
    func publish(_ completion: @escaping (BusError?) -> Void) {
        publish(Self.ordered(objects.services)[...], completion)
    }

    /// The services, each after those that it includes.
    private static func ordered(_ services: [ApplicationObjects.Service]) -> [ApplicationObjects.Service] {
        var ordered: [ApplicationObjects.Service] = [], waiting = services
        while let index = waiting.firstIndex(where: { service in
            service.includes.allSatisfy { path in
                path == service.path || !waiting.contains { $0.path == path }
            }
        }) {
            ordered.append(waiting.remove(at: index))
        }
        // Services that include each other have no order.
        return ordered + waiting
    }

    private func publish(
        _ services: ArraySlice<ApplicationObjects.Service>, _ completion: @escaping (BusError?) -> Void
    ) {
        guard let service = services.first else { return completion(nil) }
        // The call keeps the application, so that a service is not left behind if the client withdraws it meanwhile.
        client.user.call(.publish(definition(of: service), at: nil)) { [self] result in
            switch result {
            case .success(.published(let handles)) where isWithdrawn:
                client.user.post(.withdraw(handles.declaration))
                completion(.doesNotExist)
            case .success(.published(let handles)):
                take(handles, of: service)
                publish(services.dropFirst(), completion)
            case .success: completion(.failed("Failed to create entry in database"))
            case .failure(let error):
                withdraw {}
                completion(.failed("Failed to create entry in database: \(error)"))
            }
        }
    }

    private func definition(of service: ApplicationObjects.Service) -> GATTServiceDefinition {
        let includes = service.includes.compactMap { path in
            objects.services.firstIndex { $0.path == path }.flatMap { declarations[objects.services[$0].path] }
        }
        return GATTServiceDefinition(
            uuid: service.uuid, isPrimary: service.isPrimary, includes: includes,
            characteristics: service.characteristics.map { characteristic in
                GATTCharacteristicDefinition(
                    uuid: characteristic.uuid, properties: characteristic.flags.properties,
                    extendedProperties: characteristic.flags.extended,
                    permissions: characteristic.flags.permissions, subscription: characteristic.flags.subscription,
                    descriptors: Self.descriptors(of: characteristic).map {
                        GATTDescriptorDefinition(uuid: $0.uuid, permissions: $0.permissions, value: .dynamic)
                    })
            })
    }

    private var declarations: [ObjectPath: AttributeHandle] = [:]

    /// The descriptors without those that the database adds itself.
    private static func descriptors(
        of characteristic: ApplicationObjects.Characteristic
    ) -> [ApplicationObjects.Descriptor] {
        characteristic.descriptors.filter {
            $0.uuid != .clientCharacteristicConfiguration && $0.uuid != .characteristicExtendedProperties
        }
    }

    private func take(_ handles: GATTServiceHandles, of service: ApplicationObjects.Service) {
        published.append(Published(declaration: handles.declaration, range: handles.range))
        declarations[service.path] = handles.declaration
        for (characteristic, places) in zip(service.characteristics, handles.characteristics) {
            let attribute = Attribute(path: characteristic.path, interface: Self.characteristicInterface)
            attributes[places.value] = attribute
            characteristics[places.value] = ServedCharacteristic(
                places.value, attribute, characteristic.sockets, self, client)
            valueHandles[characteristic.path] = places.value
            for (descriptor, handle) in zip(Self.descriptors(of: characteristic), places.descriptors) {
                attributes[handle] = Attribute(path: descriptor.path, interface: "org.bluez.GattDescriptor1")
            }
        }
    }

    /// Removes the services from the database.
    func withdraw(_ completion: @escaping () -> Void) {
        isWithdrawn = true
        calls = [:]
        guard !published.isEmpty else { return completion() }
        // Services that include others go first.
        client.user.call(.withdrawAll(published.reversed().map(\.declaration))) { _ in completion() }
        published = []
        attributes = [:]
        characteristics = [:]
    }

    // MARK: - Calling the client

    /// The options that describe the peer and its link. As in BlueZ, only an offset other than 0 is among them.
    private func options(_ link: LinkIdentifier, offset: Int = 0) -> DBusValue {
        var entries: [(String, DBusValue)] = offset == 0 ? [] : [("offset", .uint16(UInt16(clamping: offset)))]
        if let device = client.daemon.devices.connected(link) {
            entries.append(("device", .objectPath(device.path)))
            entries.append(("mtu", .uint16(UInt16(clamping: device.link.information?.mtu ?? 23))))
        }
        entries.append(("link", .string("LE")))
        return .variants(entries)
    }

    /// Calls a method of an attribute. The completion is called unless the application is withdrawn before.
    func call(
        _ attribute: Attribute, _ member: String, _ values: [DBusValue],
        _ completion: @escaping (Result<[DBusValue], BusError>) -> Void
    ) {
        callForMessage(attribute, member, values) { completion($0.values) }
    }

    private func callForMessage(
        _ attribute: Attribute, _ member: String, _ values: [DBusValue],
        _ completion: @escaping (Result<Message, BusError>) -> Void
    ) {
        client.daemon.tree.flush()
        lastCall += 1
        let number = lastCall
        calls[number] = client.daemon.bus.call(
            client.name, attribute.path, attribute.interface, member, values, timeout: Self.timeout
        ) { [weak self] (reply: Result<Message, BusError>) in
            self?.calls[number] = nil
            completion(reply)
        }
    }

    /// Asks the client for a socket, whose descriptor belongs to the completion: nil if the client has none.
    func acquire(
        _ attribute: Attribute, _ member: String, _ link: LinkIdentifier, _ completion: @escaping (Int32?) -> Void
    ) {
        callForMessage(attribute, member, [options(link)]) { reply in
            // The descriptor in the message belongs to the message.
            guard case .success(let message) = reply, let descriptor = try? message.readAll().first?.descriptor else {
                return completion(nil)
            }
            let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
            completion(copy < 0 ? nil : copy)
        }
    }

    // MARK: - Requests of peers

    func readRequested(_ request: ServerRequest, _ handle: AttributeHandle, offset: Int) {
        guard let attribute = attributes[handle] else { return refuse(request, .unlikelyError) }
        let options = options(request.link, offset: offset)
        call(attribute, "ReadValue", [options]) { [weak self] result in
            switch result {
            case .success(let values):
                guard let octets = values.first?.octets else {
                    self?.refuse(request, .requestNotSupported)
                    return
                }
                self?.client.user.post(.answer(request, Array(octets.prefix(Self.valueLimit))))
            case .failure(let error): self?.refuse(request, error.attributeCode(.readNotPermitted))
            }
        }
    }

    private static let valueLimit = 512

    func writeRequested(_ request: ServerRequest, _ handle: AttributeHandle, _ octets: [UInt8]) {
        write(octets, to: handle, from: request.link) { [weak self] error in
            if let error { self?.refuse(request, error) } else { self?.client.user.post(.accept(request)) }
        }
    }

    /// A write without response.
    func written(_ link: LinkIdentifier, _ handle: AttributeHandle, _ octets: [UInt8]) {
        write(octets, to: handle, from: link) { _ in }
    }

    /// Writes a value to the client's socket, or with a call.
    private func write(
        _ octets: [UInt8], to handle: AttributeHandle, from link: LinkIdentifier,
        _ completion: @escaping (ATTErrorCode?) -> Void
    ) {
        guard let attribute = attributes[handle] else { return completion(.unlikelyError) }
        let options = options(link)
        let callWriteValue: () -> Void = { [weak self] in
            self?.call(attribute, "WriteValue", [.bytes(octets), options]) { result in
                switch result {
                case .success: completion(nil)
                case .failure(let error): completion(error.attributeCode(.writeNotPermitted))
                }
            }
        }
        // A descriptor has no socket.
        guard let characteristic = characteristics[handle] else {
            callWriteValue()
            return
        }
        characteristic.write(octets, from: link) { outcome in
            switch outcome {
            case .sent: completion(nil)
            case .failed: completion(.unlikelyError)
            case .unavailable: callWriteValue()
            }
        }
    }

    /// Queued writes. The parts of each value are put together, and written one value after the other.
    func executeRequested(_ request: ServerRequest, _ writes: GATTPreparedWrites) {
        var values: [(AttributeHandle, offset: Int, octets: [UInt8])] = []
        for position in 0..<writes.count {
            let handle = writes.handle(at: position), part = writes.value(at: position)
            let octets = (0..<part.count).map { part[$0] }
            if let last = values.last, last.0 == handle, last.offset + last.octets.count == writes.offset(at: position)
            {
                values[values.count - 1].octets += octets
            } else {
                values.append((handle, writes.offset(at: position), octets))
            }
        }
        execute(request, values[...])
    }

    private func execute(
        _ request: ServerRequest, _ values: ArraySlice<(AttributeHandle, offset: Int, octets: [UInt8])>
    ) {
        guard let (handle, offset, octets) = values.first else { return client.user.post(.accept(request)) }
        guard let attribute = attributes[handle] else { return refuse(request, .unlikelyError) }
        let options = options(request.link, offset: offset)
        call(attribute, "WriteValue", [.bytes(octets), options]) { [weak self] result in
            switch result {
            case .success: self?.execute(request, values.dropFirst())
            case .failure(let error): self?.refuse(request, error.attributeCode(.writeNotPermitted))
            }
        }
    }

    func authorizationRequested(_ request: ServerRequest) { client.user.post(.authorize(request)) }

    private func refuse(_ request: ServerRequest, _ code: ATTErrorCode) {
        client.user.post(.refuse(request, code))
    }

    // MARK: - Subscriptions

    func subscriptionChanged(_ link: LinkIdentifier, _ change: GATTSubscriptionChange) {
        characteristics[change.characteristic]?.subscriptionChanged(link, change.new)
    }

    func linkEnded(_ link: LinkIdentifier) {
        for characteristic in characteristics.values { characteristic.subscriptionChanged(link, []) }
    }

    /// The client has a new value for a characteristic, which its subscribers receive.
    func propertiesChanged(_ path: ObjectPath, _ values: DBusValue) {
        guard let handle = valueHandles[path], let octets = values["Value"]?.octets else { return }
        characteristics[handle]?.update(octets)
    }
}

extension BusError {
    /// The ATT error that a peer receives if an application answers with this error.
    ///
    /// - Parameter refusal: the error for `NotPermitted`.
    func attributeCode(_ refusal: ATTErrorCode) -> ATTErrorCode {
        switch name {
        case "org.bluez.Error.Failed":
            guard let number = UInt8(number: message) else { return ATTErrorCode(rawValue: 0x80) }
            return (0x80...0x9F).contains(number) ? ATTErrorCode(rawValue: number) : .unlikelyError
        case "org.bluez.Error.NotSupported": return .requestNotSupported
        case "org.bluez.Error.NotAuthorized": return .insufficientAuthorization
        case "org.bluez.Error.InvalidValueLength": return .invalidAttributeValueLength
        case "org.bluez.Error.InvalidOffset": return .invalidOffset
        case "org.bluez.Error.InProgress": return .procedureAlreadyInProgress
        case "org.bluez.Error.ImproperlyConfigured": return .clientCharacteristicConfigurationImproperlyConfigured
        case "org.bluez.Error.NotPermitted": return refusal
        default: return .unlikelyError
        }
    }
}

extension UInt8 {
    /// Reads a decimal number, or a hexadecimal one after `0x`.
    fileprivate init?(number text: String) {
        let isHexadecimal = text.hasPrefix("0x") || text.hasPrefix("0X")
        self.init(isHexadecimal ? text.dropFirst(2) : text[...], radix: isHexadecimal ? 16 : 10)
    }
}
