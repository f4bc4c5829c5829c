import BluetoothAdapter
import BluetoothBase
import BluetoothGATT
import BluetoothHost
import Foundation
import Logging
import Synchronization

/// A peripheral that a manager has discovered and, while it is connected, its services.
///
/// Discoveries accumulate, and discovering an attribute again yields the same object, so an application may compare
/// objects by identity. They become invalid when the connection ends, unless the manager reconnects automatically
/// (`CBConnectPeripheralOptionEnableAutoReconnect`).
open class CBPeripheral: CBPeer {
    /// The delegate, which receives the callbacks of the peripheral.
    open weak var delegate: (any CBPeripheralDelegate)? {
        get { listener.withLock { $0.delegate } }
        set { listener.wrappedValue = Listener(delegate: newValue) }
    }

    /// The peripheral's name: its advertised name until its Device Name has been read over a connection.
    open var name: String? { currentName }

    /// The RSSI that was last read.
    @available(*, deprecated, message: "use readRSSI() and peripheral(_:didReadRSSI:error:)")
    open var rssi: NSNumber? { lastRSSI }

    /// The state of the connection.
    open var state: CBPeripheralState { currentState }

    /// The services discovered so far; nil before the first discovery.
    open var services: [CBService]? { attributes.services }

    /// Whether `writeValue(_:for:type: .withoutResponse)` can be called now without the value being dropped. If not,
    /// `peripheralIsReady(toSendWriteWithoutResponse:)` is called when it can.
    open var canSendWriteWithoutResponse: Bool { session?.link?.canWriteCommands ?? true }

    /// Whether the peripheral may receive the system's notifications. Always false here.
    open var ancsAuthorized: Bool { false }

    /// The application sets the delegate while the queue reads it, which a plain `weak` property does not allow.
    private struct Listener {
        weak var delegate: (any CBPeripheralDelegate)?
    }

    /// The state of the connection, and the session that makes or keeps it.
    private struct Connection {
        var state = CBPeripheralState.disconnected
        var session: PeripheralSession?
    }

    // Constants, because each access of a guarded variable retains and releases its guard.
    private let listener = Guarded(wrappedValue: Listener())
    let peer: PeerID
    weak let manager: CBCentralManager?

    private let connection = Guarded(wrappedValue: Connection())
    @Guarded var currentName: String? {
        didSet { _observers.changed() }
    }

    /// Sets the name. Observers are notified only if it differs.
    func setName(_ name: String) {
        if currentName != name { currentName = name }
    }

    @Guarded var lastRSSI: NSNumber?
    let guardedAttributes = Guarded(wrappedValue: PeripheralAttributes())
    var attributes: PeripheralAttributes {
        get { guardedAttributes.wrappedValue }
        set { guardedAttributes.wrappedValue = newValue }
    }
    /// The ATT_MTU of the link.
    private let currentMTU = Atomic(unconnectedMTU)
    var mtu: Int {
        get { currentMTU.load(ordering: .relaxed) }
        set { currentMTU.store(newValue, ordering: .relaxed) }
    }
    private static let unconnectedMTU = 23
    /// The longest value of a write without response.
    private var commandLength: Int { min(mtu - 3, GATTAttributeValue.maximumLength) }

    init(_ identifier: UUID, _ peer: PeerID, name: String?, manager: CBCentralManager) {
        self.peer = peer
        self.manager = manager
        super.init(identifier: identifier)
        currentName = name
    }

    deinit {
        guard let session else { return }
        let currentState = currentState
        if currentState == .connecting || currentState == .connected {
            session.central?.warn(
                "Cancelling connection for unused peripheral \(identifier), did you forget to keep a reference to it?")
        }
        session.central?.abandon(session)
        session.release()
    }

    open override var description: String {
        "<CBPeripheral: \(place(of: self)), identifier = \(identifier), name = \(currentName ?? "(null)"), "
            + "mtu = \(mtu), state = \(currentState)>"
    }

    /// Supports `identifier`, `name`, `state` and `mtuLength`.
    open override func value(forKey key: String) -> Any? {
        switch key {
        case "name": currentName
        case "state": NSNumber(value: currentState.rawValue)
        case "mtuLength": NSNumber(value: mtu)
        default: super.value(forKey: key)
        }
    }

    // MARK: - Connecting

    var currentState: CBPeripheralState { connection.withLock { $0.state } }
    /// The session of the current or requested connection; nil if there is none.
    var session: PeripheralSession? { connection.withLock { $0.session } }

    /// Whether this session's connection was reported to the application and is not being cancelled.
    func isConnected(by session: PeripheralSession) -> Bool {
        connection.withLock { $0.session === session && $0.state == .connected }
    }

    /// Returns a new session to connect with; nil if the peripheral is already connected or connecting.
    func beginConnecting(isReconnecting: Bool) -> PeripheralSession? {
        guard let central = manager?.session else { return nil }
        let before = connection.withLock { connection -> CBPeripheralState? in
            guard connection.state == .disconnected || connection.state == .disconnecting else { return nil }
            let before = connection.state
            let session = PeripheralSession(self, of: central, isReconnecting: isReconnecting)
            connection = Connection(state: .connecting, session: session)
            return before
        }
        guard let before else { return nil }
        // The end of the previous connection has not been reported yet. Its state is reset here, because resetting it
        // later would affect the next connection.
        if before == .disconnecting { forgetConnection() }
        _observers.changed()
        return session
    }

    /// Returns the session to cancel; nil if there is none.
    func beginDisconnecting() -> PeripheralSession? {
        let session = connection.withLock { connection -> PeripheralSession? in
            guard connection.state == .connecting || connection.state == .connected else { return nil }
            connection.state = .disconnecting
            return connection.session
        }
        if session != nil { _observers.changed() }
        return session
    }

    /// Ends a session. False if it has already ended, or another one has begun.
    func endSession(_ ended: PeripheralSession) -> Bool {
        let isCurrent = connection.withLock { connection in
            guard connection.session === ended else { return false }
            connection = Connection()
            return true
        }
        guard isCurrent else { return false }
        forgetConnection()
        _observers.changed()
        return true
    }

    /// Moves the connection from one state to the next. False if the application has changed the state in the meantime.
    func advance(_ session: PeripheralSession, from before: CBPeripheralState, to after: CBPeripheralState) -> Bool {
        let isCurrent = connection.withLock { connection in
            guard connection.session === session, connection.state == before else { return false }
            connection.state = after
            return true
        }
        if isCurrent { _observers.changed() }
        return isCurrent
    }

    /// Resets the state that belongs to one connection.
    private func forgetConnection() {
        mtu = Self.unconnectedMTU
        stopNotifying()
        attributes = PeripheralAttributes()
    }

    // MARK: - Discovering

    /// Discovers services, or all services if nil or empty; `peripheral(_:didDiscoverServices:)` reports the result.
    /// Services that the system uses itself are omitted: see `BluetoothEnvironment.showsSystemServices`.
    open func discoverServices(_ serviceUUIDs: [CBUUID]?) {
        tellIfNobodyListens("discover services")
        perform("discover services", .discoverServices(Self.uuids(serviceUUIDs)))
    }

    /// Discovers the services that a service includes, or all of them if nil or empty.
    open func discoverIncludedServices(_ includedServiceUUIDs: [CBUUID]?, for service: CBService) {
        tellIfNobodyListens("discover included services")
        perform(
            "discover included services", .discoverIncludedServices(Self.uuids(includedServiceUUIDs), service),
            of: service)
    }

    /// Discovers the characteristics of a service, or all of them if nil or empty.
    open func discoverCharacteristics(_ characteristicUUIDs: [CBUUID]?, for service: CBService) {
        tellIfNobodyListens("discover characteristics")
        perform(
            "discover characteristics", .discoverCharacteristics(Self.uuids(characteristicUUIDs), service),
            of: service)
    }

    /// Discovers the descriptors of a characteristic.
    open func discoverDescriptors(for characteristic: CBCharacteristic) {
        tellIfNobodyListens("discover descriptors")
        perform("discover descriptors", .discoverDescriptors(characteristic), of: characteristic)
    }

    private static func uuids(_ wanted: [CBUUID]?) -> [BluetoothUUID] { wanted?.map(\.bluetoothUUID) ?? [] }

    // MARK: - Values

    /// Reads a value of any length; `peripheral(_:didUpdateValueFor:error:)` reports the result.
    open func readValue(for characteristic: CBCharacteristic) {
        perform("read a value", .read(characteristic), of: characteristic)
    }

    /// Reads a descriptor.
    open func readValue(for descriptor: CBDescriptor) {
        perform("read a descriptor", .read(descriptor), of: descriptor)
    }

    /// The maximum length of the value of one write, in octets: 512 with a response; ATT_MTU − 3, but at most 512,
    /// without.
    @discardableResult
    open func maximumWriteValueLength(for type: CBCharacteristicWriteType) -> Int {
        switch type {
        case .withResponse: GATTAttributeValue.maximumLength
        case .withoutResponse: commandLength
        }
    }

    /// Writes a value. With a response, `peripheral(_:didWriteValueFor:error:)` reports the result. A write without a
    /// response has no callback, and is dropped if the value is too long or too many writes are queued.
    open func writeValue(_ data: Data, for characteristic: CBCharacteristic, type: CBCharacteristicWriteType) {
        switch type {
        case .withResponse: perform("write a value", .write(data.octets, characteristic), of: characteristic)
        case .withoutResponse:
            guard let link = link("write a value"), isKnown(characteristic) else { return }
            let length = commandLength
            guard data.count <= length else {
                return reportMisuse(
                    "a value of \(data.count) octets does not fit in a write without response to \(self): "
                        + "the maximum is \(length)")
            }
            if link.writeCommand(data.octets, to: characteristic.handle) { return }
            reportMisuse("a write without response to \(self) was dropped: too many are pending")
        }
    }

    /// Writes a descriptor. To subscribe, call `setNotifyValue(_:for:)`: writing the Client Characteristic
    /// Configuration is a programming error.
    open func writeValue(_ data: Data, for descriptor: CBDescriptor) {
        precondition(
            descriptor.uuid != CBUUID(string: CBUUIDClientCharacteristicConfigurationString),
            "Client Characteristic Configuration descriptors must be configured using setNotifyValue:forCharacteristic:"
        )
        perform("write a descriptor", .write(data.octets, descriptor), of: descriptor)
    }

    /// Subscribes to a characteristic, or ends the subscription. It subscribes to notifications if the characteristic
    /// supports them, otherwise to indications. `peripheral(_:didUpdateNotificationStateFor:error:)` reports the
    /// result.
    open func setNotifyValue(_ enabled: Bool, for characteristic: CBCharacteristic) {
        perform("set the notification state", .setNotify(characteristic, enabled), of: characteristic)
    }

    /// Reads the RSSI of the connection; `peripheral(_:didReadRSSI:error:)` reports it, in dBm.
    open func readRSSI() {
        guard let link = link("read RSSI") else { return }
        let attachment = link.attachment
        manager?.session.waitForCaller()
        attachment.begin(.rssi(link), .readRSSI(link.identifier))
    }

    /// Opens an L2CAP channel to a PSM of the peripheral; `peripheral(_:didOpen:error:)` delivers it.
    open func openL2CAPChannel(_ psm: CBL2CAPPSM) { perform("open an L2CAP channel", .openChannel(psm)) }

    // MARK: - Misuse

    /// Reports a discovery without a delegate. The discovery takes place anyway, but an application seldom intends
    /// that.
    private func tellIfNobodyListens(_ call: String) {
        if delegate == nil { reportMisuse("\(self) was asked to \(call), but has no delegate") }
    }

    /// The link, while the application knows that the peripheral is connected.
    private func link(_ call: String) -> PeripheralLink? {
        let connection = connection.wrappedValue
        if connection.state == .connected { return connection.session?.link }
        reportMisuse("\(self) can only \(call) while it is connected")
        return nil
    }

    /// Whether an attribute is one of this peripheral's, discovered on this connection.
    private func isKnown(_ attribute: CBAttribute) -> Bool {
        if guardedAttributes.withLock({ $0.contains(attribute) }) { return true }
        reportMisuse("\(attribute) is not known to \(self), or has been invalidated: discover it first")
        return false
    }

    /// Performs an operation, after all earlier ones.
    private func perform(_ call: String, _ operation: PeripheralOperation, of attribute: CBAttribute? = nil) {
        guard let link = link(call) else { return }
        if let attribute, !isKnown(attribute) { return }
        link.perform(operation)
    }
}
