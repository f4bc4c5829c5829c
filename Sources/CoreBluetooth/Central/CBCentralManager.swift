import BluetoothAdapter
import BluetoothBase
import BluetoothGAP
import BluetoothHost
import Dispatch
import Foundation
import Synchronization

/// Discovers peripherals, connects to them, and maintains the connections.
///
/// Every call returns immediately. Its result is reported to the delegate, on the manager's queue. The manager does not
/// retain its peripherals: an application must hold those it is interested in, and releasing a peripheral ends its
/// connection.
open class CBCentralManager: CBManager {
    /// Optional features of the controller.
    public struct Feature: OptionSet, Sendable {
        /// The features as bits. Bit 0 is `extendedScanAndConnect`.
        public let rawValue: UInt

        /// Creates a set of features from its bits. A set with undefined bits is never supported.
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// Scanning for, and connecting to, peripherals that use extended advertising. No option enables it: such
        /// peripherals are discovered and connected to like any other.
        public static var extendedScanAndConnect: Feature { Feature(rawValue: 1 << 0) }
    }

    /// The delegate. May be set after the manager has been created.
    open weak var delegate: (any CBCentralManagerDelegate)? {
        get { listener.withLock { $0.delegate } }
        set {
            listener.wrappedValue = Listener(delegate: newValue)
            delegateChanges.add(1, ordering: .releasing)
        }
    }

    /// Whether the manager is scanning: from `scanForPeripherals` until `stopScan`, until the adapter is no longer on,
    /// or until the scan fails.
    open var isScanning: Bool { scanning }

    /// The application sets the delegate while the queue reads it, which a plain `weak` property does not allow.
    private struct Listener {
        weak var delegate: (any CBCentralManagerDelegate)?
    }

    // Not `@Guarded`, like `discoveries`: the wrapper of a variable is retained for each use.
    private let listener: Guarded<Listener>
    /// Counts the changes of the delegate.
    let delegateChanges = Atomic<Int>(0)
    @Guarded var scanning = false {
        didSet {
            _ = discoveries.withLock { $0.begin(scanning ? scans : nil) }
            _observers.changed()
        }
    }
    /// Counts the starts and stops of scans, so that discoveries of one scan are not reported in the next.
    @Guarded private(set) var scans: UInt64 = 0
    /// The peripherals that the application holds.
    @Guarded private var peripherals = WeakTable<CBPeripheral>()
    /// The devices found by the current scan.
    private let discoveries = Guarded(wrappedValue: Discoveries())

    let session: CentralSession

    /// Creates a manager without a delegate. Callbacks run on the main queue.
    public convenience init() {
        self.init(delegate: nil, queue: nil)
    }

    /// Creates a manager. Its state arrives in the first callback.
    ///
    /// - Parameters:
    ///   - delegate: receives the callbacks. Held weakly.
    ///   - queue: the queue of the callbacks; the main queue if nil.
    public convenience init(delegate: (any CBCentralManagerDelegate)?, queue: DispatchQueue?) {
        self.init(delegate: delegate, queue: queue, options: nil)
    }

    /// Creates a manager with options. Its state arrives in the first callback.
    ///
    /// - Parameters:
    ///   - delegate: receives the callbacks. Held weakly.
    ///   - queue: the queue of the callbacks; the main queue if nil. The callbacks of a manager run one at a time and
    ///     in order, even on a concurrent queue.
    ///   - options: `CBCentralManagerOptionRestoreIdentifierKey` makes the manager keep its state from run to run.
    public init(
        delegate: (any CBCentralManagerDelegate)?, queue: DispatchQueue?, options: [String: Any]? = nil
    ) {
        listener = Guarded(wrappedValue: Listener(delegate: delegate))
        session = CentralSession(
            ManagerEnvironment(), queue,
            restoreIdentifier: options?[CBCentralManagerOptionRestoreIdentifierKey] as? String)
        super.init(session.environment)
        session.manager.object = self
        session.environment.adapter.add(session)
    }

    deinit { session.stop() }

    /// Whether the controller that a new manager would use supports all of these features. No feature is known until a
    /// manager with that controller has been `.poweredOn`.
    @discardableResult
    open class func supports(_ features: Feature) -> Bool {
        let adapter = BluetoothEnvironment.virtual?.adapter ?? .at(BluetoothEnvironment.transport)
        var supported: Feature = []
        if adapter.current?.information?.usesExtendedCommands == true { supported.insert(.extendedScanAndConnect) }
        return features.isSubset(of: supported)
    }

    // MARK: - Known peripherals

    /// Returns the peripherals with these identifiers, in the same order. They may have been discovered in an earlier
    /// run, and can be connected to without a scan. Identifiers that this system did not create are skipped.
    @discardableResult
    open func retrievePeripherals(withIdentifiers identifiers: [UUID]) -> [CBPeripheral] {
        guard isOn("retrieve peripherals") else { return [] }
        return identifiers.compactMap { session.environment.identities.peer(for: $0).map { peripheral($0) } }
    }

    /// Returns the peripherals that this process has a link to, through any manager, and that offer at least one of the
    /// services. The application must connect to such a peripheral before using it. That takes no time, because the
    /// link exists.
    @discardableResult
    open func retrieveConnectedPeripherals(withServices serviceUUIDs: [CBUUID]) -> [CBPeripheral] {
        guard isOn("retrieve connected peripherals") else { return [] }
        let services = Set(serviceUUIDs.map(\.bluetoothUUID))
        return session.linkedPeers.filter { !$0.1.isDisjoint(with: services) }.map { peripheral($0.0) }
    }

    /// The object for a peripheral: always the same while the application holds it.
    ///
    /// - Parameter name: its advertised name.
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

    /// The object for a peripheral, if the application holds it.
    func known(_ peer: PeerID) -> CBPeripheral? { $peripherals.withLock { $0[peer] } }

    /// The peripherals that the application holds.
    var livingPeripherals: [CBPeripheral] { $peripherals.withLock { $0.objects } }

    // MARK: - Scanning

    /// Scans until `stopScan`, or until the adapter is no longer on. A second call replaces the filter and options of
    /// the first.
    ///
    /// - Parameters:
    ///   - serviceUUIDs: only advertisers of at least one of these services are reported; all advertisers if nil or
    ///     empty.
    ///   - options: `CBCentralManagerScanOptionAllowDuplicatesKey`,
    ///     `CBCentralManagerScanOptionSolicitedServiceUUIDsKey`.
    open func scanForPeripherals(withServices serviceUUIDs: [CBUUID]?, options: [String: Any]? = nil) {
        guard isOn("scan"), let attachment else { return }
        let number = nextScan()
        scanning = true
        session.scan(for: WantedScan(services: serviceUUIDs, options: options), number: number, through: attachment)
    }

    /// Stops the scan, if one is running.
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

    /// Reports a discovery to the delegate.
    ///
    /// - Parameters:
    ///   - index: its index among the devices that the adapter has found.
    ///   - adapter: the adapter of the session.
    ///   - namesVersion: the version of the known Device Names.
    func discovered(
        _ index: Int, of found: FoundDevices, in scan: UInt64, _ adapter: SharedAdapter, namesVersion: UInt64,
        to delegate: borrowing HeldDelegate
    ) {
        // Each manager uses the sighting in place, because a copy would retain its data.
        let peer = found.sightings[index].peer
        if let known = discoveries.withLock({ $0.find(peer, in: scan) }), known.namesVersion == namesVersion,
            let advertisement = adapter.advertisements.dictionary(for: index, of: found, by: known.advertisement)
        {
            return Self.withRSSI(found.sightings[index].rssi) {
                delegate.tell(self, known.peripheral, advertisement, $0)
            }
        }
        discoveredFromScratch(
            found.sightings[index], found.number(of: index), in: scan, adapter, namesVersion: namesVersion,
            to: delegate)
    }

    /// Reports a discovery of an unknown device, or of one whose advertisement has changed.
    @inline(never)
    private func discoveredFromScratch(
        _ sighting: Sighting, _ number: SightingNumber, in scan: UInt64, _ adapter: SharedAdapter,
        namesVersion: UInt64, to delegate: borrowing HeldDelegate
    ) {
        let peer = sighting.peer
        // Discoveries that arrive after `stopScan`, or that belong to an earlier scan, are dropped.
        guard scanning, scans == scan else { return }
        let data = sighting.advertisement
        guard let wanted = session.lock.withLock({ session.wantedScan }), wanted.matches(data) else { return }
        let advertised = data.localName?.text
        let peripheral = peripheral(peer, name: advertised)
        if let name = adapter.names[peer] ?? advertised { peripheral.setName(name) }
        let (template, dictionary) = adapter.advertisements.make(sighting, number, data)
        keep(Discovery(peripheral, template, namesVersion: namesVersion), of: peer, in: scan)
        Self.withRSSI(sighting.rssi) { delegate.tell(self, peripheral, dictionary, $0) }
    }

    private func keep(_ discovery: Discovery, of peer: PeerID, in scan: UInt64) {
        _ = discoveries.withLock { $0.add(discovery, for: peer, in: scan) }
        // Checked after adding: an application that connects on another thread meanwhile first changes the state and
        // then drops the discovery, so one of the two drops it.
        if discovery.peripheral.currentState != .disconnected { drop(peer) }
    }

    /// Drops a discovery, so that only the application retains the peripheral.
    private func drop(_ peer: PeerID) { _ = discoveries.withLock { $0.remove(peer) } }

    /// Calls `body` with an RSSI in dBm; 127 if it is not available.
    static func withRSSI<Result>(_ measured: Int8?, _ body: (NSNumber) -> Result) -> Result {
        numbers[Int(measured ?? 127) + 128]._withUnsafeGuaranteedRef(body)
    }

    // They are never released, so nothing has to retain one for a callback.
    private static let numbers = (-128...127).map { Unmanaged.passRetained(NSNumber(value: Int8($0))) }

    // MARK: - Connecting

    /// Connects to a peripheral. The attempt has no time limit; `cancelPeripheralConnection` cancels it.
    ///
    /// - Parameters:
    ///   - peripheral: a peripheral of this manager.
    ///   - options: `CBConnectPeripheralOptionStartDelayKey`, `CBConnectPeripheralOptionEnableAutoReconnect`; other
    ///     options are accepted without effect.
    open func connect(_ peripheral: CBPeripheral, options: [String: Any]? = nil) {
        let options = ConnectOptions(options)
        guard isOn("connect"), let attachment, isOurs(peripheral),
            let session = peripheral.beginConnecting(isReconnecting: options.isReconnecting)
        else { return }
        drop(peripheral.peer)
        session.remember()
        // If the link already exists, the answer may arrive before this call returns.
        self.session.waitForCaller()
        self.session.connect(session, through: attachment, after: options.startDelay)
    }

    /// Cancels a connection, or an attempt to connect. The link itself stays while another manager uses it.
    open func cancelPeripheralConnection(_ peripheral: CBPeripheral) {
        guard isOn("cancel a connection"), let attachment, isOurs(peripheral),
            let session = peripheral.beginDisconnecting()
        else { return }
        self.session.cancel(session, through: attachment)
    }

    /// Reports to the delegate when links are made and end, including links of other managers and links made by peers.
    ///
    /// - Parameter options: the peripherals to report, by `.serviceUUIDs` or `.peripheralUUIDs`; nil ends the reports.
    open func registerForConnectionEvents(options: [CBConnectionEventMatchingOption: Any]? = nil) {
        guard isOn("register for connection events") else { return }
        session.setConnectionEvents(options.map { WantedConnectionEvents($0) })
    }

    // MARK: - Misuse

    private func isOurs(_ peripheral: CBPeripheral) -> Bool {
        if peripheral.manager === self { return true }
        reportMisuse("\(peripheral) belongs to a manager other than \(self)")
        return false
    }
}
