import BluetoothAdapter
import BluetoothBase
import BluetoothGATT
import BluetoothHost
import Foundation
import Logging
import Synchronization

/// A peripheral, as a manager found it; and, while it is connected, the services it offers.
///
/// What is discovered accumulates, and objects stay the same: an application may compare them. With the end of the
/// connection they are over.
open class CBPeripheral: CBPeer {
    /// Who is told what the peripheral does.
    open weak var delegate: (any CBPeripheralDelegate)? {
        get { $listener.withLock { $0.delegate } }
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
    open var canSendWriteWithoutResponse: Bool { session?.link?.canWriteCommands ?? true }

    /// Whether the peripheral may see the system's notifications: never, here.
    open var ancsAuthorized: Bool { false }

    /// The delegate, which the application sets while the queue reads it: a `weak` property alone does not bear that.
    private struct Listener {
        weak var delegate: (any CBPeripheralDelegate)?
    }

    /// Where the connection stands, and what makes or keeps it.
    private struct Connection {
        var state = CBPeripheralState.disconnected
        var session: PeripheralSession?
    }

    @Guarded private var listener = Listener()
    let peer: PeerID
    weak let manager: CBCentralManager?

    @Guarded private var connection = Connection()
    @Guarded var currentName: String? {
        didSet { _observers.changed() }
    }

    /// Takes a name in that it may have had before.
    func setName(_ name: String) {
        if currentName != name { currentName = name }
    }

    @Guarded var lastRSSI: NSNumber?
    @Guarded var attributes = PeripheralAttributes()
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
            BluetoothEnvironment.logger.warning(
                "Cancelling connection for unused peripheral \(identifier), did you forget to keep a reference to it?")
        }
        session.central?.abandon(session)
        session.release()
    }

    open override var description: String {
        "<CBPeripheral: \(place(of: self)), identifier = \(identifier), name = \(currentName ?? "(null)"), "
            + "mtu = \(mtu), state = \(currentState)>"
    }

    /// `identifier`, `name`, `state` and `mtuLength`.
    open override func value(forKey key: String) -> Any? {
        switch key {
        case "name": currentName
        case "state": NSNumber(value: currentState.rawValue)
        case "mtuLength": NSNumber(value: mtu)
        default: super.value(forKey: key)
        }
    }

    // MARK: - Connecting

    var currentState: CBPeripheralState { $connection.withLock { $0.state } }
    /// While the peripheral is connected, or is to be.
    var session: PeripheralSession? { $connection.withLock { $0.session } }

    /// Whether the application knows of a connection, and it is this one.
    func isConnected(by session: PeripheralSession) -> Bool {
        $connection.withLock { $0.session === session && $0.state == .connected }
    }

    /// What a connection is to be made with; nil where that would change nothing.
    func beginConnecting(isReconnecting: Bool) -> PeripheralSession? {
        guard let central = manager?.session else { return nil }
        let before = $connection.withLock { connection -> CBPeripheralState? in
            guard connection.state == .disconnected || connection.state == .disconnecting else { return nil }
            let before = connection.state
            let session = PeripheralSession(self, of: central, isReconnecting: isReconnecting)
            connection = Connection(state: .connecting, session: session)
            return before
        }
        guard let before else { return nil }
        // What an end that is still to be told of would do: it is the next connection's from here on.
        if before == .disconnecting { forgetConnection() }
        _observers.changed()
        return session
    }

    /// What keeps the connection that is to end; nil where there is nothing to end.
    func beginDisconnecting() -> PeripheralSession? {
        let session = $connection.withLock { connection -> PeripheralSession? in
            guard connection.state == .connecting || connection.state == .connected else { return nil }
            connection.state = .disconnecting
            return connection.session
        }
        if session != nil { _observers.changed() }
        return session
    }

    /// The connection is over. False where it is over already, or another one has begun.
    func endSession(_ ended: PeripheralSession) -> Bool {
        let isCurrent = $connection.withLock { connection in
            guard connection.session === ended else { return false }
            connection = Connection()
            return true
        }
        guard isCurrent else { return false }
        forgetConnection()
        _observers.changed()
        return true
    }

    /// The connection has come so far. False where the application wants something else by now.
    func advance(_ session: PeripheralSession, from before: CBPeripheralState, to after: CBPeripheralState) -> Bool {
        let isCurrent = $connection.withLock { connection in
            guard connection.session === session, connection.state == before else { return false }
            connection.state = after
            return true
        }
        if isCurrent { _observers.changed() }
        return isCurrent
    }

    /// Forgets what held for one connection.
    private func forgetConnection() {
        mtu = Self.unconnectedMTU
        stopNotifying()
        attributes = PeripheralAttributes()
    }

    // MARK: - Discovering

    /// Discovers services, all where nil or empty; `peripheral(_:didDiscoverServices:)` tells. Those that the system uses
    /// itself are left out: see `BluetoothEnvironment.showsSystemServices`.
    open func discoverServices(_ serviceUUIDs: [CBUUID]?) {
        tellIfNobodyListens("discover services")
        perform("discover services", .discoverServices(Self.uuids(serviceUUIDs)))
    }

    /// Discovers the services that a service includes, all where nil or empty.
    open func discoverIncludedServices(_ includedServiceUUIDs: [CBUUID]?, for service: CBService) {
        tellIfNobodyListens("discover included services")
        perform(
            "discover included services", .discoverIncludedServices(Self.uuids(includedServiceUUIDs), service),
            of: service)
    }

    /// Discovers the characteristics of a service, all where nil or empty.
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

    /// Reads a value, however long; `peripheral(_:didUpdateValueFor:error:)` tells.
    open func readValue(for characteristic: CBCharacteristic) {
        perform("read a value", .read(characteristic), of: characteristic)
    }

    /// Reads a descriptor.
    open func readValue(for descriptor: CBDescriptor) {
        perform("read a descriptor", .read(descriptor), of: descriptor)
    }

    /// The longest value that one write takes: 512 octets with a response; ATT_MTU less 3, and no more than 512, without.
    @discardableResult
    open func maximumWriteValueLength(for type: CBCharacteristicWriteType) -> Int {
        switch type {
        case .withResponse: GATTAttributeValue.maximumLength
        case .withoutResponse: commandLength
        }
    }

    /// Writes a value. With a response, `peripheral(_:didWriteValueFor:error:)` tells how that ended; without one nothing
    /// tells, and a value that is too long, or comes while too many wait already, is dropped.
    open func writeValue(_ data: Data, for characteristic: CBCharacteristic, type: CBCharacteristicWriteType) {
        switch type {
        case .withResponse: perform("write a value", .write([UInt8](data), characteristic), of: characteristic)
        case .withoutResponse:
            guard let link = link("write a value"), isKnown(characteristic) else { return }
            let length = commandLength
            guard data.count <= length else {
                return reportMisuse(
                    "a value of \(data.count) octets does not fit in a write without response to \(self): "
                        + "at most \(length) do")
            }
            if link.writeCommand([UInt8](data), to: characteristic.handle) { return }
            reportMisuse("a write without response to \(self) was dropped: too many wait")
        }
    }

    /// Writes a descriptor. To subscribe, call `setNotifyValue(_:for:)`: writing the Client Characteristic Configuration is
    /// a programming error.
    open func writeValue(_ data: Data, for descriptor: CBDescriptor) {
        precondition(
            descriptor.uuid != CBUUID(string: CBUUIDClientCharacteristicConfigurationString),
            "Client Characteristic Configuration descriptors must be configured using setNotifyValue:forCharacteristic:"
        )
        perform("write a descriptor", .write([UInt8](data), descriptor), of: descriptor)
    }

    /// Subscribes to a characteristic, to notifications where it has them, else to indications; or ends that.
    /// `peripheral(_:didUpdateNotificationStateFor:error:)` tells.
    open func setNotifyValue(_ enabled: Bool, for characteristic: CBCharacteristic) {
        perform("set the notification state", .setNotify(characteristic, enabled), of: characteristic)
    }

    /// Reads how strongly the peripheral is heard; `peripheral(_:didReadRSSI:error:)` tells, in dBm.
    open func readRSSI() {
        guard let link = link("read RSSI") else { return }
        let attachment = link.attachment
        manager?.session.waitForCaller()
        _ = attachment.begin(.rssi(link), .readRSSI(link.identifier), token: attachment.runner.makeToken())
    }

    /// Opens an L2CAP channel to a service of the peripheral; `peripheral(_:didOpen:error:)` has it.
    open func openL2CAPChannel(_ psm: CBL2CAPPSM) { perform("open an L2CAP channel", .openChannel(psm)) }

    // MARK: - Misuse

    /// What is discovered without a delegate is there all the same, but an application seldom means that.
    private func tellIfNobodyListens(_ call: String) {
        if delegate == nil { reportMisuse("\(self) is to \(call) and has no delegate to be told") }
    }

    /// The link, while the application knows that the peripheral is connected.
    private func link(_ call: String) -> PeripheralLink? {
        let connection = connection
        if connection.state == .connected { return connection.session?.link }
        reportMisuse("\(self) can only \(call) while it is connected")
        return nil
    }

    /// Whether an attribute is one of this peripheral's, discovered on this connection.
    private func isKnown(_ attribute: CBAttribute) -> Bool {
        if $attributes.withLock({ $0.contains(attribute) }) { return true }
        reportMisuse("\(attribute) is not known to \(self), or no longer: discover it first")
        return false
    }

    /// Has something done, after everything that was asked for before.
    private func perform(_ call: String, _ operation: PeripheralOperation, of attribute: CBAttribute? = nil) {
        guard let link = link(call) else { return }
        if let attribute, !isKnown(attribute) { return }
        link.perform(operation)
    }
}
