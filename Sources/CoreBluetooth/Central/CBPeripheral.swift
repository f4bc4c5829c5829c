import BluetoothLE
import Foundation
import Logging

/// A peripheral, as a manager found it; and, while it is connected, the services it offers.
///
/// What is discovered accumulates, and objects stay the same: an application may compare them. With the end of the
/// connection they are over.
open class CBPeripheral: CBPeer {
    /// Who is told what the peripheral does.
    open weak var delegate: (any CBPeripheralDelegate)? {
        get { listener.delegate }
        set { listener = Listener(delegate: newValue) }
    }

    /// What the peripheral calls itself: what it advertised, until it has been connected to and has told its Device Name.
    open var name: String? { currentName }

    /// What `readRSSI` read last.
    @available(*, deprecated, message: "use readRSSI() and peripheral(_:didReadRSSI:error:)")
    open var rssi: NSNumber? { lastRSSI }

    /// Where the connection to it stands.
    open var state: CBPeripheralState { currentState }

    /// The services discovered so far; nil before.
    open var services: [CBService]? { attributes.services }

    /// Whether `writeValue(_:for:type: .withoutResponse)` may be called now without the value being dropped; when that
    /// becomes so, `peripheralIsReady(toSendWriteWithoutResponse:)` tells.
    open var canSendWriteWithoutResponse: Bool { !commands.isFull }

    /// Whether the peripheral may see the system's notifications: never, here.
    open var ancsAuthorized: Bool { false }

    /// The delegate, which the application sets while the queue reads it: a `weak` property alone does not bear that.
    private struct Listener {
        weak var delegate: (any CBPeripheralDelegate)?
    }

    @Guarded private var listener = Listener()
    let address: DeviceAddress
    weak var manager: CBCentralManager?

    @Guarded var currentState = CBPeripheralState.disconnected {
        didSet { _observers.changed() }
    }
    @Guarded var currentName: String? {
        didSet { _observers.changed() }
    }
    @Guarded var lastRSSI: NSNumber?
    @Guarded var attributes = PeripheralAttributes()
    /// The longest value of a write without response: ATT_MTU less 3.
    @Guarded var commandLength = 20
    /// The writes without response that have not been sent yet.
    @Guarded var commands = CommandQueue()
    /// While the peripheral is connected, or is to be.
    @Guarded var session: PeripheralSession?

    init(_ identifier: UUID, _ address: DeviceAddress, name: String?, manager: CBCentralManager) {
        self.address = address
        self.manager = manager
        super.init(identifier: identifier)
        currentName = name
    }

    deinit {
        guard let session else { return }
        if currentState == .connecting || currentState == .connected {
            BluetoothEnvironment.logger.warning(
                "Cancelling connection for unused peripheral \(identifier), did you forget to keep a reference to it?")
        }
        BluetoothEngine.run { await session.abandon() }
    }

    open override var description: String {
        "<CBPeripheral: \(place(of: self)), identifier = \(identifier), name = \(currentName ?? "(null)"), "
            + "mtu = \(commandLength + 3), state = \(currentState)>"
    }

    /// `identifier`, `name`, `state` and `mtuLength`.
    open override func value(forKey key: String) -> Any? {
        switch key {
        case "name": currentName
        case "state": NSNumber(value: currentState.rawValue)
        case "mtuLength": NSNumber(value: commandLength + 3)
        default: super.value(forKey: key)
        }
    }

    // MARK: - Connecting

    /// The session to connect with; nil where that would change nothing.
    func beginConnecting() -> PeripheralSession? {
        let (session, before) = $currentState.withLock { state -> (PeripheralSession?, CBPeripheralState) in
            guard state == .disconnected || state == .disconnecting, let manager else { return (nil, state) }
            defer { state = .connecting }
            let session = PeripheralSession(self, of: manager.session)
            self.session = session
            return (session, state)
        }
        guard let session else { return nil }
        // What an end that is still to be told of would do: it is the next session's from here on.
        if before == .disconnecting { forgetConnection() }
        _observers.changed()
        return session
    }

    /// Takes in what a run before knew, and waits to be connected.
    @BluetoothEngine
    func restore(_ saved: CentralState.Peripheral, of central: CentralSession) -> PeripheralSession? {
        defer { _observers.changed() }
        return $currentState.withLock { state in
            guard state == .disconnected else { return nil }
            state = .connecting
            attributes = saved.restored(of: self)
            let session = PeripheralSession(restoring: self, of: central, isReconnecting: saved.isReconnecting)
            self.session = session
            return session
        }
    }

    /// The session to end; nil where there is nothing to end.
    func beginDisconnecting() -> PeripheralSession? {
        defer { _observers.changed() }
        return $currentState.withLock { state in
            guard state == .connecting || state == .connected else { return nil }
            state = .disconnecting
            return session
        }
    }

    // MARK: - Discovering

    /// Discovers services, all where nil or empty; `peripheral(_:didDiscoverServices:)` tells.
    open func discoverServices(_ serviceUUIDs: [CBUUID]?) {
        let wanted = serviceUUIDs.map { $0.map(\.bluetoothUUID) } ?? []
        tellIfNobodyListens("discover services")
        perform("discover services") { await $0.discoverServices(wanted) }
    }

    /// Discovers the services that a service includes, all where nil or empty.
    open func discoverIncludedServices(_ includedServiceUUIDs: [CBUUID]?, for service: CBService) {
        let wanted = includedServiceUUIDs.map { $0.map(\.bluetoothUUID) } ?? []
        tellIfNobodyListens("discover included services")
        perform("discover included services", of: service) { await $0.discoverIncludedServices(wanted, of: service) }
    }

    /// Discovers the characteristics of a service, all where nil or empty.
    open func discoverCharacteristics(_ characteristicUUIDs: [CBUUID]?, for service: CBService) {
        let wanted = characteristicUUIDs.map { $0.map(\.bluetoothUUID) } ?? []
        tellIfNobodyListens("discover characteristics")
        perform("discover characteristics", of: service) { await $0.discoverCharacteristics(wanted, of: service) }
    }

    /// Discovers the descriptors of a characteristic.
    open func discoverDescriptors(for characteristic: CBCharacteristic) {
        tellIfNobodyListens("discover descriptors")
        perform("discover descriptors", of: characteristic) { await $0.discoverDescriptors(of: characteristic) }
    }

    // MARK: - Values

    /// Reads a value, however long; `peripheral(_:didUpdateValueFor:error:)` tells.
    open func readValue(for characteristic: CBCharacteristic) {
        perform("read a value", of: characteristic) { await $0.readValue(of: characteristic) }
    }

    /// Reads a descriptor.
    open func readValue(for descriptor: CBDescriptor) {
        perform("read a descriptor", of: descriptor) { await $0.readValue(of: descriptor) }
    }

    /// The longest value that one write takes: 512 octets with a response, ATT_MTU less 3 without.
    @discardableResult
    open func maximumWriteValueLength(for type: CBCharacteristicWriteType) -> Int {
        switch type {
        case .withResponse: 512
        case .withoutResponse: commandLength
        }
    }

    /// Writes a value. With a response, `peripheral(_:didWriteValueFor:error:)` tells how that ended; without one nothing
    /// tells, and a value that is too long, or comes while too many wait already, is dropped.
    open func writeValue(_ data: Data, for characteristic: CBCharacteristic, type: CBCharacteristicWriteType) {
        let value = [UInt8](data)
        switch type {
        case .withResponse:
            perform("write a value", of: characteristic) { await $0.write(value, to: characteristic) }
        case .withoutResponse:
            guard isConnected("write a value"), isKnown(characteristic) else { return }
            guard value.count <= commandLength else {
                return reportMisuse(
                    "a value of \(value.count) octets does not fit in a write without response to \(self): "
                        + "at most \(commandLength) do")
            }
            guard $commands.withLock({ $0.add() }) else {
                return reportMisuse("a write without response to \(self) was dropped: too many wait")
            }
            perform("write a value", of: characteristic) { await $0.writeWithoutResponse(value, to: characteristic) }
        }
    }

    /// Writes a descriptor. To subscribe, call `setNotifyValue(_:for:)`: writing the Client Characteristic Configuration is
    /// a programming error.
    open func writeValue(_ data: Data, for descriptor: CBDescriptor) {
        precondition(
            descriptor.uuid != CBUUID(string: CBUUIDClientCharacteristicConfigurationString),
            "Client Characteristic Configuration descriptors must be configured using setNotifyValue:forCharacteristic:"
        )
        let value = [UInt8](data)
        perform("write a descriptor", of: descriptor) { await $0.write(value, to: descriptor) }
    }

    /// Subscribes to a characteristic, to notifications where it has them, else to indications; or ends that.
    /// `peripheral(_:didUpdateNotificationStateFor:error:)` tells.
    open func setNotifyValue(_ enabled: Bool, for characteristic: CBCharacteristic) {
        perform("set the notification state", of: characteristic) { await $0.setNotify(enabled, for: characteristic) }
    }

    /// Reads how strongly the peripheral is heard; `peripheral(_:didReadRSSI:error:)` tells, in dBm.
    open func readRSSI() {
        guard isConnected("read RSSI"), let session else { return }
        BluetoothEngine.run { await session.readRSSI() }
    }

    /// Opens an L2CAP channel. Not supported here yet: `peripheral(_:didOpen:error:)` tells so.
    open func openL2CAPChannel(_ psm: CBL2CAPPSM) {
        perform("open an L2CAP channel") { session in
            session.tell { $0.delegate?.peripheral($0, didOpen: nil, error: CBError(.operationNotSupported)) }
        }
    }

    // MARK: - Misuse

    /// What is discovered without a delegate is there all the same, but an application seldom means that.
    private func tellIfNobodyListens(_ call: String) {
        if delegate == nil { reportMisuse("\(self) is to \(call) and has no delegate to be told") }
    }

    private func isConnected(_ call: String) -> Bool {
        if currentState == .connected { return true }
        reportMisuse("\(self) can only \(call) while it is connected")
        return false
    }

    /// Whether an attribute is one of this peripheral's, discovered on this connection.
    private func isKnown(_ attribute: CBAttribute) -> Bool {
        if attributes.contains(attribute) { return true }
        reportMisuse("\(attribute) is not known to \(self), or no longer: discover it first")
        return false
    }

    /// Has the session do something, after everything that was asked for before.
    private func perform(
        _ call: String, of attribute: CBAttribute? = nil,
        _ operation: @escaping @BluetoothEngine (PeripheralSession) async -> Void
    ) {
        guard isConnected(call), let session else { return }
        if let attribute, !isKnown(attribute) { return }
        BluetoothEngine.run { session.enqueue(operation) }
    }
}
