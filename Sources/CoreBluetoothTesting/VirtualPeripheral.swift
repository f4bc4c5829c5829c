import BluetoothLE
import CoreBluetooth
import Foundation
import Synchronization
import VirtualRadio

/// A peripheral that a test declares and controls.
///
/// It is a separate device on the test's radio, with a real stack: an app sees what it would see of such hardware.
/// Using a peripheral before it is added to a radio is a programming error.
public final class VirtualPeripheral: @unchecked Sendable {
    // Unchecked: mutable state is set once, in `appear`, before anything else uses it.

    private let name: String?
    private let advertised: [CBUUID]
    private let services: [VirtualService]
    private let isConnectable: Bool
    private let proximity: TestRadio.Proximity
    weak var delegate: (any VirtualPeripheralDelegate)?

    private var device: Device?
    private var serving: Task<Void, Never>?
    /// The calls that wait for a subscription.
    private let waiting = Mutex<[(uuid: BluetoothUUID, continuation: CheckedContinuation<Void, Never>)]>([])

    /// Its device on a radio.
    private struct Device {
        let radio: VirtualRadio
        /// The app's controller.
        let app: VirtualRadio.Port
        let port: VirtualRadio.Port
        let adapter: Adapter
        let characteristics: [PublishedCharacteristic]
    }

    /// Creates a peripheral. It takes part when it is added to a radio.
    ///
    /// - Parameters:
    ///   - name: the name that it advertises and that its Device Name holds.
    ///   - advertised: the services that it advertises; all of `services` by default.
    ///   - services: the services that it offers.
    ///   - isConnectable: whether centrals may connect.
    ///   - proximity: its initial distance.
    ///   - delegate: answers requests for values that the peripheral does not store, and receives callbacks for the
    ///     actions of centrals. Held weakly.
    public init(
        name: String?, advertising advertised: [any CBUUIDConvertible]? = nil, services: [VirtualService] = [],
        isConnectable: Bool = true, proximity: TestRadio.Proximity = .near,
        delegate: (any VirtualPeripheralDelegate)? = nil
    ) {
        self.name = name
        self.advertised = advertised?.map(\.cbuuid) ?? services.map(\.uuid)
        self.services = services
        self.isConnectable = isConnectable
        self.proximity = proximity
        self.delegate = delegate
    }

    deinit {
        serving?.cancel()
    }

    /// Opens the device and starts advertising. Returns its adapter.
    func appear(on radio: VirtualRadio, near app: VirtualRadio.Port) async throws -> Adapter {
        precondition(device == nil, "a peripheral can be on one radio only")
        let port = radio.addController()
        radio.setPathLoss(between: app, and: port, to: proximity.pathLoss)
        var options = AdapterOptions()
        if let name { options.host.deviceName = name }
        let adapter = try await Adapter.open(port, options: options)
        let events = adapter.characteristicEvents()
        var characteristics: [PublishedCharacteristic] = []
        for service in services {
            characteristics += try await adapter.publish(service.definition, events: events).characteristics
        }
        device = Device(radio: radio, app: app, port: port, adapter: adapter, characteristics: characteristics)
        let uuids = zip(characteristics, services.flatMap(\.characteristics)).map { ($0.handle, $1.uuid) }
        serving = serve(events, Dictionary(uniqueKeysWithValues: uuids))
        try await simulateAdvertising()
        return adapter
    }

    private var present: Device {
        guard let device else { preconditionFailure("add the peripheral to a TestRadio first") }
        return device
    }

    // MARK: - Actions of the peripheral

    /// Starts advertising, as it does when it appears.
    public func simulateAdvertising() async throws {
        var advertisement = AdvertisementData()
        advertisement.localName = name.map { .complete($0) }
        advertisement.serviceUUIDs = advertised.map(\.bluetooth)
        try await present.adapter.advertise(advertisement, isConnectable: isConnectable)
    }

    /// Stops advertising, so that it is no longer discovered. Its links remain.
    public func simulateSilence() async {
        await present.adapter.stopAdvertising()
    }

    /// Moves the peripheral. Out of range, links are lost after their supervision timeout.
    public func simulateProximityChange(_ proximity: TestRadio.Proximity) {
        let device = present
        device.radio.setPathLoss(between: device.app, and: device.port, to: proximity.pathLoss)
    }

    // MARK: - Links

    /// How many centrals are connected.
    public var connectionCount: Int { device?.adapter.connections.count ?? 0 }

    /// Waits until a central, such as the app, has connected.
    public func waitForConnection() async throws {
        let adapter = present.adapter
        // Subscribe before the check, so that no connection is missed.
        let events = adapter.events()
        guard adapter.connections.isEmpty else { return }
        for try await case .connected in events { return }
    }

    /// Waits until a central, such as the app, has subscribed to a characteristic.
    ///
    /// - Throws: `CBError(.invalidParameters)` if there is no such characteristic.
    public func waitForSubscription(to uuid: some CBUUIDConvertible) async throws {
        guard let characteristic = present.characteristics.first(where: { $0.uuid == uuid.bluetooth }) else {
            throw CBError(.invalidParameters)
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                waiting.withLock { $0.append((characteristic.uuid, continuation)) }
                if Task.isCancelled { return subscribed(characteristic.uuid) }
                Task { [self] in
                    if !characteristic.subscribers.isEmpty { subscribed(characteristic.uuid) }
                }
            }
        } onCancel: {
            subscribed(characteristic.uuid)
        }
        try Task.checkCancellation()
    }

    /// Resumes the calls that wait for a subscription.
    func subscribed(_ uuid: BluetoothUUID) {
        let all = waiting.withLock { waiting in
            defer { waiting.removeAll { $0.uuid == uuid } }
            return waiting.filter { $0.uuid == uuid }
        }
        for one in all { one.continuation.resume() }
    }

    /// Makes another program on the app's device connect and use the link until it ends. The app finds the peripheral
    /// with `retrieveConnectedPeripherals(withServices:)`. If the app connects, it shares this link; if it disconnects,
    /// the link remains.
    ///
    /// - Throws: if the app's adapter is off.
    public func simulateConnection() async throws {
        let device = present
        guard let address = device.adapter.information?.address else { throw CBError(.notConnected) }
        try await AdapterSimulation.connect(to: address, at: BluetoothTransport(device.app))
    }

    /// Ends the links. Data sent just before may be lost, as on the air.
    ///
    /// - Parameter error: the error for the app: `.peripheralDisconnected` if the peripheral disconnects, or
    ///   `.connectionTimeout` as after a supervision timeout. Other values act like `.peripheralDisconnected`.
    public func simulateDisconnection(_ error: CBError.Code = .peripheralDisconnected) async throws {
        let device = present
        if error == .connectionTimeout {
            device.radio.withAir { air, now in
                air.dropLinks(of: device.port.identifier, reason: .connectionTimeout, at: now)
            }
        } else {
            for connection in device.adapter.connections { try await connection.disconnect() }
        }
    }

    /// Simulates a crash and a restart: links are lost without a disconnection, and it advertises again.
    public func simulateReset() {
        let port = present.port
        port.unplug()
        port.plugIn()
    }

    // MARK: - Values

    /// Changes a value, and notifies or indicates it to subscribers.
    ///
    /// - Throws: `CBError(.invalidParameters)` if no characteristic has this UUID; a `BluetoothError` if the value
    ///   could not be sent. A subscriber that disconnects or unsubscribes in the meantime is not an error.
    public func simulateValueUpdate(_ value: Data, for uuid: some CBUUIDConvertible) async throws {
        let characteristics = present.characteristics.filter { $0.uuid == uuid.bluetooth }
        guard !characteristics.isEmpty else { throw CBError(.invalidParameters) }
        for characteristic in characteristics {
            if await characteristic.value != nil { try await characteristic.setValue([UInt8](value)) }
            for subscriber in characteristic.subscribers { try await subscriber.tell([UInt8](value)) }
        }
    }
}

extension Subscriber {
    /// Sends a notification or an indication, depending on the subscription.
    fileprivate func tell(_ value: [UInt8]) async throws(BluetoothError) {
        do throws(BluetoothError) {
            do throws(BluetoothError) {
                try await notify(value)
            } catch {
                guard error.code == .notSubscribed else { throw error }
                try await indicate(value)
            }
        } catch {
            switch error.code {
            case .disconnected, .notSubscribed: return
            default: throw error
            }
        }
    }
}
