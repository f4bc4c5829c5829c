import BluetoothATT
import BluetoothGATT
import BluetoothHost
import BluetoothUsers
import BusObjects
import DBus

/// A descriptor of a remote device: `org.bluez.GattDescriptor1`.
final class RemoteDescriptor {
    unowned let device: Device
    let path: ObjectPath
    let characteristicPath: ObjectPath
    let information: DiscoveredDescriptor
    private var value: [UInt8]
    /// The client whose write is in progress.
    private var writer: Client?

    /// - Parameter value: the value if it was read with the services, and otherwise empty.
    init(
        _ information: DiscoveredDescriptor, value: [UInt8] = [], below characteristic: ObjectPath, of device: Device
    ) {
        self.device = device
        self.information = information
        self.value = value
        characteristicPath = characteristic
        path = characteristic.appending("desc" + TextForm.handle(information.handle))
    }

    static let interface = Interface<RemoteDescriptor>(
        "org.bluez.GattDescriptor1",
        methods: [
            Method("ReadValue", [Argument("options", "a{sv}")], returns: [Argument("value", "ay")]) {
                descriptor, call throws(BusError) in try descriptor.read(call)
            },
            Method("WriteValue", [Argument("value", "ay"), Argument("options", "a{sv}")]) {
                descriptor, call throws(BusError) in try descriptor.write(call)
            },
        ],
        properties: [
            Property("Handle", "q") { $0.device.handleValue($0.information.handle) },
            Property("UUID", "s") { .string(TextForm.uuid($0.information.uuid)) },
            Property("Characteristic", "o") { .objectPath($0.characteristicPath) },
            Property("Value", "ay") { .bytes($0.value) },
        ])

    func clientLeft(_ client: Client) {
        if writer === client { writer = nil }
    }

    private func read(_ call: MethodCall) throws(BusError) {
        guard let link = device.link.identifier else { throw .failed("Not connected") }
        let offset = try ValueOptions(call.arguments[0]).offset
        let client = try device.daemon.client(of: call)
        let operation = GATTClientOperation.readLong(information.handle, offset: offset)
        client.user.call(.perform(link, operation), keepsOrder: false) { [weak self] result in
            switch result {
            case .success(.gatt(.value(let octets))):
                self?.store(octets, at: Int(offset))
                call.reply(.bytes(octets))
            case .success: call.fail(.failed("Operation failed"))
            case .failure(let error): call.fail(.attribute(error))
            }
        }
    }

    private func store(_ octets: [UInt8], at offset: Int) {
        value = value.prefix(offset) + octets
        device.daemon.tree.changed("Value", of: Self.interface.name, at: path)
    }

    private func write(_ call: MethodCall) throws(BusError) {
        guard let link = device.link.identifier else { throw .failed("Not connected") }
        guard writer == nil else { throw .inProgress }
        let octets = call.arguments[0].octets ?? []
        let offset = try ValueOptions(call.arguments[1]).offset
        // StartNotify and StopNotify write it.
        guard information.uuid != .clientCharacteristicConfiguration else {
            throw .notPermitted("Write not permitted")
        }
        let client = try device.daemon.client(of: call)
        writer = client
        let write = HostCall.Kind.write(octets, to: information.handle, offset: offset, on: link)
        client.user.call(write, keepsOrder: false) { [weak self] result in
            if self?.writer === client { self?.writer = nil }
            switch result {
            case .success: call.reply()
            case .failure(let error): call.fail(.attribute(error))
            }
        }
    }
}
