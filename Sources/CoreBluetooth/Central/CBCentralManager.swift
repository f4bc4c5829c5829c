import BluetoothAdapter
import BluetoothBase
import BluetoothGAP
import BluetoothHost
import Dispatch
import Foundation

/// Finds peripherals, connects to them, and keeps the connections.
///
/// Every call returns at once; what comes of it is told to the delegate, on the queue the manager was made with. The
/// manager does not keep its peripherals: an application holds those it is interested in, and letting go of one ends its
/// connection.
open class CBCentralManager: CBManager {
    /// What the system's radio can do beyond the ordinary.
    public struct Feature: OptionSet, Sendable {
        public let rawValue: UInt

        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// Scanning for, and connecting to, peripherals that use extended advertising. Nothing has to be asked for: they are found
        /// and connected to as all others.
        public static var extendedScanAndConnect: Feature { Feature(rawValue: 1 << 0) }
    }

    /// Who is told what happens. May be set after the manager has been made.
    open weak var delegate: (any CBCentralManagerDelegate)? {
        get { $listener.withLock { $0.delegate } }
        set { listener = Listener(delegate: newValue) }
    }

    /// Whether the manager scans: from `scanForPeripherals` to `stopScan`, or until the adapter is no longer on.
    open var isScanning: Bool { scanning }

    /// The delegate, which the application sets while the queue reads it: a `weak` property alone does not bear that.
    private struct Listener {
        weak var delegate: (any CBCentralManagerDelegate)?
    }

    @Guarded private var listener = Listener()
    @Guarded var scanning = false {
        didSet {
            _ = $discoveries.withLock { $0.begin(scanning ? scans : nil) }
            _observers.changed()
        }
    }
    /// How many scans have been asked for or ended: what was found by one is not reported in another.
    @Guarded private(set) var scans: UInt64 = 0
    /// The peripherals that the application holds.
    @Guarded private var peripherals = WeakTable<CBPeripheral>()
    /// What the scan has found.
    @Guarded private var discoveries = Discoveries()
    /// Of advertisements, on the queue.
    @exclusivity(unchecked) private var dictionaries: AdvertisementDictionary

    let session: CentralSession

    /// A manager without a delegate, which tells on the main queue.
    public convenience init() {
        self.init(delegate: nil, queue: nil)
    }

    /// - Parameters:
    ///   - delegate: who is told what happens.
    ///   - queue: where; the main queue where nil.
    public convenience init(delegate: (any CBCentralManagerDelegate)?, queue: DispatchQueue?) {
        self.init(delegate: delegate, queue: queue, options: nil)
    }

    /// - Parameters:
    ///   - delegate: who is told what happens.
    ///   - queue: where; the main queue where nil. A queue that runs several things at once loses their order.
    ///   - options: `CBCentralManagerOptionRestoreIdentifierKey` has the manager remember what it does from run to run.
    public init(
        delegate: (any CBCentralManagerDelegate)?, queue: DispatchQueue?, options: [String: Any]? = nil
    ) {
        listener = Listener(delegate: delegate)
        session = CentralSession(
            ManagerEnvironment(), queue,
            restoreIdentifier: options?[CBCentralManagerOptionRestoreIdentifierKey] as? String)
        dictionaries = AdvertisementDictionary(session.environment)
        super.init(session.environment)
        session.manager.object = self
        session.environment.adapter.add(session)
    }

    deinit { session.stop() }

    /// Whether the system's radio has a feature: the one that managers made now would use, as far as it is known. That is once a
    /// manager has been `.poweredOn`; before, it has none.
    @discardableResult
    open class func supports(_ features: Feature) -> Bool {
        let adapter = BluetoothEnvironment.virtual?.adapter ?? .at(BluetoothEnvironment.transport)
        var supported: Feature = []
        if adapter.current?.information?.usesExtendedCommands == true { supported.insert(.extendedScanAndConnect) }
        return features.isSubset(of: supported)
    }

    // MARK: - Known peripherals

    /// Peripherals that were met before, in this run or in another, in the order of the identifiers. They may be connected
    /// to without a scan. Identifiers that were not given out by this system are passed over.
    @discardableResult
    open func retrievePeripherals(withIdentifiers identifiers: [UUID]) -> [CBPeripheral] {
        guard isOn("retrieve peripherals") else { return [] }
        return identifiers.compactMap { session.environment.identities.peer(for: $0).map { peripheral($0) } }
    }

    /// The peripherals to which this process has a link, through whatever manager, and which have one of the services. To
    /// use one it has to be connected to here, too, which takes no time.
    @discardableResult
    open func retrieveConnectedPeripherals(withServices serviceUUIDs: [CBUUID]) -> [CBPeripheral] {
        guard isOn("retrieve connected peripherals") else { return [] }
        let services = Set(serviceUUIDs.map(\.bluetoothUUID))
        return session.linkedPeers.filter { !$0.1.isDisjoint(with: services) }.map { peripheral($0.0) }
    }

    /// The object that stands for a peripheral: always the same while the application holds it.
    ///
    /// - Parameter name: what it advertises.
    func peripheral(_ peer: PeerID, name: String? = nil) -> CBPeripheral {
        if let known = known(peer) { return known }
        let environment = session.environment
        let new = CBPeripheral(
            environment.identities.identifier(for: peer), peer, name: environment.adapter.names[peer] ?? name,
            manager: self)
        return $peripherals.withLock { peripherals in
            if let peripheral = peripherals[peer] { return peripheral }
            peripherals[peer] = new
            return new
        }
    }

    /// The object that stands for a peripheral, where the application holds it.
    func known(_ peer: PeerID) -> CBPeripheral? { $peripherals.withLock { $0[peer] } }

    /// The peripherals that the application holds.
    var livingPeripherals: [CBPeripheral] { $peripherals.withLock { $0.objects } }

    // MARK: - Scanning

    /// Scans until `stopScan`, or until the adapter is no longer on. A second call replaces what is looked for.
    ///
    /// - Parameters:
    ///   - serviceUUIDs: advertisers of any of these are reported; all where nil or empty.
    ///   - options: `CBCentralManagerScanOptionAllowDuplicatesKey`, `CBCentralManagerScanOptionSolicitedServiceUUIDsKey`.
    open func scanForPeripherals(withServices serviceUUIDs: [CBUUID]?, options: [String: Any]? = nil) {
        guard isOn("scan"), let attachment else { return }
        let number = nextScan()
        scanning = true
        session.scan(for: WantedScan(services: serviceUUIDs, options: options), number: number, through: attachment)
    }

    /// Ends the scan, if there is one.
    open func stopScan() {
        guard scanning else { return }
        _ = nextScan()
        scanning = false
        session.stopScan()
    }

    private func nextScan() -> UInt64 {
        $scans.withLock { scans in
            scans &+= 1
            return scans
        }
    }

    /// A scan has found something.
    func discovered(_ sighting: Sighting, in scan: UInt64) {
        let peer = sighting.peer
        let names = session.environment.adapter.names
        let namesVersion = names.version
        // Most devices go on advertising what they did, but for a number or two.
        if let known = $discoveries.withLock({ $0.find(peer, in: scan) }), known.namesVersion == namesVersion,
            let advertisement = known.advertisement.dictionary(for: sighting, by: &dictionaries)
        {
            return tell(known.peripheral, advertisement, sighting.rssi)
        }
        // What comes after `stopScan` is not wanted any more, nor what another scan has found.
        guard scanning, scans == scan else { return }
        let data = sighting.advertisement
        guard let wanted = session.lock.withLock({ session.wantedScan }), wanted.matches(data) else { return }
        let advertised = data.localName?.text
        let peripheral = peripheral(peer, name: advertised)
        if let name = names[peer] ?? advertised { peripheral.setName(name) }
        let dictionary = dictionaries.make(sighting, data)
        let template = AdvertisementTemplate(sighting, dictionary)
        keep(Discovery(peripheral, template, namesVersion: namesVersion), of: peer, in: scan)
        tell(peripheral, dictionary, sighting.rssi)
    }

    private func tell(_ peripheral: CBPeripheral, _ advertisement: [String: Any], _ rssi: Int8?) {
        delegate?.centralManager(
            self, didDiscover: peripheral, advertisementData: advertisement, rssi: Self.rssi(of: rssi))
    }

    private func keep(_ discovery: Discovery, of peer: PeerID, in scan: UInt64) {
        _ = $discoveries.withLock { $0.add(discovery, for: peer, in: scan) }
        // Looked at afterwards: an application that connects to it meanwhile, elsewhere, has it dropped afterwards.
        if discovery.peripheral.currentState != .disconnected { drop(peer) }
    }

    /// From here on only the application holds a peripheral.
    private func drop(_ peer: PeerID) { _ = $discoveries.withLock { $0.remove(peer) } }

    /// 127 stands for a strength that is not known.
    static func rssi(of measured: Int8?) -> NSNumber { numbers[Int(measured ?? 127) + 128] }

    private static let numbers = (-128...127).map { NSNumber(value: Int8($0)) }

    // MARK: - Connecting

    /// Connects to a peripheral, for however long that takes; `cancelPeripheralConnection` gives up.
    ///
    /// - Parameters:
    ///   - peripheral: one of this manager's.
    ///   - options: `CBConnectPeripheralOptionStartDelayKey`, `CBConnectPeripheralOptionEnableAutoReconnect`; the others are
    ///     accepted and have no effect here.
    open func connect(_ peripheral: CBPeripheral, options: [String: Any]? = nil) {
        let options = ConnectOptions(options)
        guard isOn("connect"), let attachment, isOurs(peripheral),
            let session = peripheral.beginConnecting(isReconnecting: options.isReconnecting)
        else { return }
        drop(peripheral.peer)
        session.remember()
        // The link may be there already.
        self.session.waitForCaller()
        self.session.connect(session, through: attachment, after: options.startDelay)
    }

    /// Ends a connection, or an attempt at one. The link itself stays as long as another manager uses it.
    open func cancelPeripheralConnection(_ peripheral: CBPeripheral) {
        guard isOn("cancel a connection"), let attachment, isOurs(peripheral),
            let session = peripheral.beginDisconnecting()
        else { return }
        self.session.cancel(session, through: attachment)
    }

    /// Has the delegate told when links come and go, whoever makes them.
    ///
    /// - Parameter options: of which peripherals: `.serviceUUIDs`, `.peripheralUUIDs`; nil ends it.
    open func registerForConnectionEvents(options: [CBConnectionEventMatchingOption: Any]? = nil) {
        guard isOn("register for connection events") else { return }
        session.setConnectionEvents(options.map { WantedConnectionEvents($0) })
    }

    // MARK: - Misuse

    private func isOurs(_ peripheral: CBPeripheral) -> Bool {
        if peripheral.manager === self { return true }
        reportMisuse("\(peripheral) belongs to another manager than \(self)")
        return false
    }
}
