import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost
import Dispatch
import Foundation

/// Offers services to centrals, and advertises them.
///
/// Every call returns immediately. Its result is reported to the delegate, on the manager's queue.
open class CBPeripheralManager: CBManager {
    /// The delegate. May be set after the manager has been created.
    open weak var delegate: (any CBPeripheralManagerDelegate)? {
        get { $listener.withLock { $0.delegate } }
        set { listener = Listener(delegate: newValue) }
    }

    /// Whether the manager is advertising.
    open var isAdvertising: Bool { advertising }

    /// The application sets the delegate while the queue reads it, which a plain `weak` property does not allow.
    private struct Listener {
        weak var delegate: (any CBPeripheralManagerDelegate)?
    }

    @Guarded private var listener = Listener()
    @Guarded private var advertising = false {
        didSet { _observers.changed() }
    }
    /// Counts how often advertising was stopped. A start requested before the last stop does not set `isAdvertising`.
    @Guarded private var advertisingGeneration: UInt64 = 0
    /// The services of the application, in the order they were added.
    @Guarded private var services: [CBMutableService] = []
    /// The published characteristics, by value handle.
    @Guarded var published: [AttributeHandle: CBMutableCharacteristic] = [:]
    /// The centrals known to the application.
    @Guarded private var centrals = WeakTable<CBCentral>()
    /// Whether an update was refused, so that the application waits for
    /// `peripheralManagerIsReady(toUpdateSubscribers:)`.
    @Guarded var isUpdateRefused = false

    let session: ServerSession

    /// Creates a manager without a delegate. Callbacks run on the main queue.
    public convenience init() {
        self.init(delegate: nil, queue: nil)
    }

    /// Creates a manager. Its state arrives in the first callback.
    ///
    /// - Parameters:
    ///   - delegate: receives the callbacks. Held weakly.
    ///   - queue: the queue of the callbacks; the main queue if nil.
    public convenience init(delegate: (any CBPeripheralManagerDelegate)?, queue: DispatchQueue?) {
        self.init(delegate: delegate, queue: queue, options: nil)
    }

    /// Creates a manager with options. Its state arrives in the first callback.
    ///
    /// - Parameters:
    ///   - delegate: receives the callbacks. Held weakly.
    ///   - queue: the queue of the callbacks; the main queue if nil. The callbacks of a manager run one at a time and
    ///     in order, even on a concurrent queue.
    ///   - options: `CBPeripheralManagerOptionRestoreIdentifierKey` makes the manager keep its state from run to run.
    public init(
        delegate: (any CBPeripheralManagerDelegate)?, queue: DispatchQueue?, options: [String: Any]? = nil
    ) {
        listener = Listener(delegate: delegate)
        session = ServerSession(
            ManagerEnvironment(), queue,
            restoreIdentifier: options?[CBPeripheralManagerOptionRestoreIdentifierKey] as? String)
        super.init(session.environment)
        session.manager.object = self
        session.environment.adapter.add(session)
    }

    deinit { session.stop() }

    /// Whether this program may advertise in the background. Linux has no background mode, so this equals
    /// `CBManager.authorization`.
    @available(*, deprecated, message: "use CBManager.authorization")
    @discardableResult
    open class func authorizationStatus() -> CBPeripheralManagerAuthorizationStatus {
        switch CBManager.authorization {
        case .notDetermined: .notDetermined
        case .restricted: .restricted
        case .denied: .denied
        case .allowedAlways: .authorized
        }
    }

    // MARK: - Advertising

    /// Advertises until `stopAdvertising`; `peripheralManagerDidStartAdvertising(_:error:)` reports the result.
    ///
    /// - Parameter advertisementData: `CBAdvertisementDataLocalNameKey` and `CBAdvertisementDataServiceUUIDsKey`; other
    ///   keys are ignored. Data that does not fit into an advertisement and its scan response, of 31 octets each, is
    ///   omitted: first the end of the name, then services, starting with the last.
    open func startAdvertising(_ advertisementData: [String: Any]?) {
        guard isOn("start advertising"), let attachment else { return }
        let wanted = WantedAdvertisement(advertisementData)
        if !wanted.unused.isEmpty {
            reportMisuse("\(self) cannot advertise \(wanted.unused.sorted().joined(separator: ", "))")
        }
        session.waitForCaller()
        session.perform(.advertise(wanted, attachment, generation: advertisingGeneration))
    }

    /// Stops advertising.
    open func stopAdvertising() {
        endAdvertising()
        session.perform(.stopAdvertising)
    }

    /// The adapter has started advertising. This has no effect if advertising was stopped in the meantime.
    ///
    /// - Parameter generation: the value of `advertisingGeneration` when the start was requested.
    func beganAdvertising(_ generation: UInt64) {
        if generation == advertisingGeneration { advertising = true }
    }

    /// Resumes the advertising of an earlier run.
    func resumeAdvertising() { advertising = true }

    func endAdvertising() {
        $advertisingGeneration.withLock { $0 &+= 1 }
        advertising = false
    }

    /// Requests a new connection interval on the link to a central. The central decides.
    open func setDesiredConnectionLatency(_ latency: CBPeripheralManagerConnectionLatency, for central: CBCentral) {
        guard isOn("set a connection latency") else { return }
        let intervals: (Int, Int)
        switch latency {
        case .low: intervals = (15, 30)
        case .medium: intervals = (60, 120)
        case .high: intervals = (300, 500)
        }
        central.link.ask(
            for: ConnectionParameters(
                minimumInterval: .milliseconds(intervals.0), maximumInterval: .milliseconds(intervals.1),
                supervisionTimeout: .seconds(6)))
    }

    // MARK: - Services

    /// Publishes a service; `peripheralManager(_:didAdd:error:)` reports the result. The service must not change
    /// afterwards. Included services must be added first. Adding a service twice is a programming error.
    open func add(_ service: CBMutableService) {
        guard isOn("add a service"), let attachment else { return }
        let isNew = $services.withLock { services in
            guard !services.contains(where: { $0 === service }) else { return false }
            services.append(service)
            return true
        }
        precondition(isNew, "Services cannot be added more than once")
        session.waitForCaller()
        do throws(CBError) {
            session.perform(.publish(try ServiceDefinition(service), attachment, isAgain: false))
        } catch {
            session.perform(.refuse(service, error))
        }
    }

    /// Withdraws a service of this manager.
    open func remove(_ service: CBMutableService) {
        guard forget(service) else { return }
        session.perform(.withdraw([ObjectIdentifier(service)]))
    }

    /// Withdraws every service of this manager.
    open func removeAllServices() {
        let gone = services
        forgetServices()
        session.perform(.withdraw(gone.map { ObjectIdentifier($0) }))
    }

    /// Forgets a service. False if it was not known.
    @discardableResult
    func forget(_ service: CBMutableService) -> Bool {
        let isKnown = $services.withLock { services in
            guard let index = services.firstIndex(where: { $0 === service }) else { return false }
            services.remove(at: index)
            return true
        }
        $published.withLock { $0 = $0.filter { $0.value.owner !== service } }
        for case let characteristic as CBMutableCharacteristic in service.members ?? [] {
            characteristic.centrals = []
            characteristic.handle = 0
        }
        return isKnown
    }

    /// Records the handles of a service that was published, or republished at new handles, unless it was removed in the
    /// meantime.
    func added(_ service: CBMutableService, _ characteristics: [(AttributeHandle, CBMutableCharacteristic)]) {
        guard services.contains(where: { $0 === service }) else { return }
        $published.withLock { published in
            published = published.filter { _, known in !characteristics.contains { $0.1 === known } }
            published.merge(characteristics) { $1 }
        }
        for (handle, characteristic) in characteristics { characteristic.handle = handle }
    }

    /// Forgets centrals and subscriptions, since the adapter is off.
    func forgetCentrals() {
        for characteristic in published.values { characteristic.centrals = [] }
    }

    /// Restores the services that an earlier run published.
    func restore(_ restored: [CBMutableService]) { services = restored }

    func forgetServices() {
        for service in services { forget(service) }
    }

    // MARK: - Values

    /// Responds to a request, once. If several requests were delivered together, respond to the first.
    ///
    /// - Parameters:
    ///   - request: the request that the delegate received.
    ///   - result: `.success`, or the error for the central. For a successful read, `request.value` holds the value.
    open func respond(to request: CBATTRequest, withResult result: CBATTError.Code) {
        let answer = request.$answer.withLock { answer in
            defer { if case .unneeded? = answer {} else { answer = nil } }
            return answer
        }
        guard let answer else {
            return reportMisuse(
                "\(request) was already answered, or is not the first of the requests delivered together")
        }
        session.respond(answer, request.value ?? Data(), result)
    }

    /// Sends a value to the subscribed centrals, as a notification or an indication.
    ///
    /// - Parameters:
    ///   - value: the value, truncated to `CBCentral.maximumUpdateValueLength`.
    ///   - characteristic: a characteristic of a published service.
    ///   - centrals: the receivers; all subscribers if nil.
    /// - Returns: false if the transmit queue is full. `peripheralManagerIsReady(toUpdateSubscribers:)` is called when
    ///   there is space again.
    @discardableResult
    open func updateValue(
        _ value: Data, for characteristic: CBMutableCharacteristic, onSubscribedCentrals centrals: [CBCentral]?
    ) -> Bool {
        guard isOn("update a value") else { return false }
        if update(value, characteristic, centrals) { return true }
        isUpdateRefused = true
        // Try again: space that became available before the flag was set does not cause a callback.
        return update(value, characteristic, centrals)
    }

    private func update(
        _ value: Data, _ characteristic: CBMutableCharacteristic, _ centrals: [CBCentral]?
    ) -> Bool {
        let subscribed = characteristic.centrals
        let meant = centrals.map { wanted in subscribed.filter { one in wanted.contains { $0 === one } } } ?? subscribed
        return session.update(value, at: characteristic.handle, to: meant)
    }

    /// The object for a central: always the same while the application or a characteristic holds it.
    func central(_ link: CentralLink, mtu: Int) -> CBCentral {
        if let central = known(link) {
            central.link = link
            central.updateLength = CBCentral.length(mtu)
            return central
        }
        let central = CBCentral(session.environment.identities.identifier(for: link.peer), link, mtu: mtu)
        $centrals.withLock { $0[link.peer] = central }
        return central
    }

    /// The object for a central, if something still holds it.
    func known(_ link: CentralLink) -> CBCentral? { $centrals.withLock { $0[link.peer] } }

    // MARK: - Channels

    /// Publishes an L2CAP channel at a PSM that the system chooses.
    /// `peripheralManager(_:didPublishL2CAPChannel:error:)` reports the PSM, and `peripheralManager(_:didOpen:error:)`
    /// delivers each channel that a central opens.
    ///
    /// - Parameter encryptionRequired: whether a central needs an encrypted link to open a channel.
    open func publishL2CAPChannel(withEncryption encryptionRequired: Bool) {
        guard isOn("publish an L2CAP channel") else { return }
        if let attachment { session.publishChannel(isEncrypted: encryptionRequired, through: attachment) }
    }

    /// Stops accepting L2CAP channels at a PSM, and closes those that are open.
    /// `peripheralManager(_:didUnpublishL2CAPChannel:error:)` reports the result.
    open func unpublishL2CAPChannel(_ psm: CBL2CAPPSM) {
        guard isOn("unpublish an L2CAP channel") else { return }
        if let attachment { session.unpublishChannel(psm, through: attachment) }
    }
}
