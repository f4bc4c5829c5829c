import BluetoothATT
import BluetoothGATT
import BluetoothHost
import BluetoothUsers
import BusObjects
import DBus

/// A characteristic of a remote device: `org.bluez.GattCharacteristic1`.
final class RemoteCharacteristic {
    unowned let device: Device
    let servicePath: ObjectPath
    let path: ObjectPath
    let information: DiscoveredCharacteristic
    let extended: GATTExtendedProperties
    let descriptors: [RemoteDescriptor]
    /// The last value that was read or received; empty without one.
    private(set) var value: [UInt8] = []
    var reading: PendingRead?
    /// The client whose write with a response is in progress.
    var writer: Client?
    /// The clients that called `StartNotify`.
    var sessions: Set<String> = []
    var subscription = Subscribing.none
    /// Whether the daemon itself follows the value, which is a battery level.
    private(set) var isFollowed = false
    var writePipe: AcquiredPipe?
    var notifyPipe: AcquiredPipe?

    /// The daemon's subscription, which serves all clients.
    enum Subscribing {
        case none
        /// The device has not responded. The calls are answered when it has. Values that arrive after the request was
        /// sent already count.
        case starting(CallToken, [Start], isSent: Bool)
        case active(CallToken)
    }

    /// A call that waits for the subscription.
    enum Start {
        case notify(MethodCall)
        case acquire(MethodCall, Client)

        var call: MethodCall {
            switch self {
            case .notify(let call), .acquire(let call, _): call
            }
        }
    }

    init(_ definition: RemoteService.CharacteristicDefinition, below service: ObjectPath, of device: Device) {
        self.device = device
        servicePath = service
        information = definition.characteristic
        extended = definition.extended
        let path = service.appending("char" + TextForm.handle(information.declarationHandle))
        self.path = path
        let extended = definition.extended.rawValue
        descriptors = definition.descriptors.map { descriptor in
            let isRead = descriptor.uuid == .characteristicExtendedProperties && extended != 0
            let value = isRead ? [UInt8(truncatingIfNeeded: extended), UInt8(extended >> 8)] : []
            return RemoteDescriptor(descriptor, value: value, below: path, of: device)
        }
    }

    var properties: GATTCharacteristicProperties { information.properties }
    var canNotify: Bool { !properties.isDisjoint(with: [.notify, .indicate]) }

    /// Whether values reach the clients of `StartNotify`.
    var isNotifying: Bool {
        if case .active = subscription { !sessions.isEmpty } else { false }
    }

    func changed(_ property: String) { device.daemon.tree.changed(property, of: Self.interface.name, at: path) }

    func export(in tree: ObjectTree) {
        tree.export(self, as: Self.interface, at: path)
        for descriptor in descriptors { tree.export(descriptor, as: RemoteDescriptor.interface, at: descriptor.path) }
    }

    func remove(from tree: ObjectTree) {
        writePipe = nil
        notifyPipe = nil
        for descriptor in descriptors { tree.remove(descriptor.path) }
        tree.remove(path)
    }

    // MARK: - Values

    /// Stores a value from an offset on, and announces it even if it is the same as before.
    func store(_ octets: [UInt8], at offset: Int = 0) {
        value = offset == 0 ? octets : value.prefix(offset) + octets
        changed("Value")
        // Otherwise, a later value would replace this one in the same signal.
        device.daemon.tree.flush()
    }

    /// The device notified or indicated a value.
    func received(_ octets: [UInt8]) {
        if isFollowed { device.batteryLevel(octets, information.valueHandle) }
        if let notifyPipe {
            notifyPipe.send(octets)
            return
        }
        switch subscription {
        case .active, .starting(_, _, isSent: true): if !sessions.isEmpty { store(octets) }
        case .none, .starting: return
        }
    }

    /// The request for the subscription with this token has been sent.
    func subscriptionBegan(_ token: CallToken) {
        guard case .starting(token, let starts, _) = subscription else { return }
        subscription = .starting(token, starts, isSent: true)
    }

    /// Lets the daemon follow the value, for the battery of the device.
    func followForBattery() {
        guard canNotify else { return }
        isFollowed = true
        subscribe(nil)
    }

    // MARK: - Ends

    /// The service has changed, and the host has dropped the subscription. It begins again when the services are known.
    func subscriptionLost() {
        // The call of a subscription that was starting has failed.
        guard case .active = subscription else { return }
        let wasNotifying = isNotifying
        subscription = .none
        isFollowed = false
        if wasNotifying { changed("Notifying") }
    }

    func linkEnded() {
        if case .starting(_, let starts, _) = subscription {
            for start in starts { start.call.fail(.failed("Not connected")) }
        }
        let wasNotifying = isNotifying
        subscription = .none
        isFollowed = false
        if wasNotifying { changed("Notifying") }
        reading?.fail(.failed("Not connected"))
        reading = nil
        writer = nil
        releasePipes()
    }

    private func releasePipes() {
        if writePipe != nil {
            writePipe = nil
            changed("WriteAcquired")
        }
        if notifyPipe != nil {
            notifyPipe = nil
            changed("NotifyAcquired")
        }
    }

    func clientLeft(_ client: Client) {
        if writePipe?.client === client {
            writePipe = nil
            changed("WriteAcquired")
        }
        if notifyPipe?.client === client {
            notifyPipe = nil
            changed("NotifyAcquired")
            unsubscribeIfUnused()
        }
        stopNotifying(client.name)
        reading?.drop(client)
        if reading?.client === client { passReading() }
        if writer === client { writer = nil }
        for descriptor in descriptors { descriptor.clientLeft(client) }
    }
}
