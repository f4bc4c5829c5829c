import BluetoothATT
import BluetoothHCI
import BluetoothLE
import CoreBluetooth
import Foundation
import Synchronization
import VirtualRadio

/// A peripheral that a test declares and controls.
///
/// It is a separate device on the test's radio, with a real stack: an app sees what it would see of such hardware.
/// Using a peripheral before it is added to a radio is a programming error.
///
/// Everything about it can be changed while it runs: `simulate…` calls do something now, and `respond` decides what it
/// does about later requests.
public final class VirtualPeripheral: @unchecked Sendable {
    // Unchecked: mutable state is guarded, or set once, in `appear`, before anything else uses it.

    /// The addresses that a peripheral uses.
    public enum Address: Sendable {
        /// Its controller's public address.
        case `public`
        /// A static random address, which a test may choose: the two most significant bits are set.
        case random(UInt64)
        /// Resolvable private addresses, each used for a time of 1 second to 1 hour. An app knows the peripheral again
        /// only after pairing.
        case rotating(every: Duration)
    }

    /// What a test may change.
    struct Settings {
        var name: String?
        var services: [VirtualService]
        var advertisements: [VirtualAdvertisement]
        var connectionInterval: Duration?
        var isAdvertising = true
        var layout: PeripheralLayout?
        var published: [PublishedService] = []
        var sets: [AdvertisingSet] = []
        /// Distinguishes the advertising that is wanted from what was wanted before.
        var advertisingNumber = 0
        /// The passkeys that it shows, or that its user enters.
        var shownPasskey: UInt32?
        var enteredPasskey: UInt32?
    }

    let settings: Mutex<Settings>
    let script: AttributeScript
    let waiters = Waiters()
    let address: Address
    let pairing: VirtualPairing
    let recording: Recording?
    private let proximity: TestRadio.Proximity
    weak var delegate: (any VirtualPeripheralDelegate)?

    private var device: Device?
    /// The tasks that are running, by their numbers.
    private let tasks = Mutex((running: [Int: Task<Void, Never>](), last: 0))

    /// Its device on a radio.
    struct Device {
        let place: Place
        let adapter: Adapter
        /// Its identity address, also while its controller is being restored.
        let address: DeviceAddress
        /// The app's name for the device.
        let identifier: @Sendable (DeviceAddress) -> UUID
    }

    /// Creates a peripheral that advertises its name and its services. It takes part when it is added to a radio.
    ///
    /// - Parameters:
    ///   - name: the name that it advertises and that its Device Name holds.
    ///   - advertised: the services that it advertises; all primary ones of `services` by default.
    ///   - services: the services that it offers.
    ///   - isConnectable: whether centrals may connect.
    ///   - proximity: its initial distance.
    ///   - address: the addresses that it uses.
    ///   - mtu: its ATT_MTU, 23 to 517 octets. A link has the smaller one of its two devices.
    ///   - connectionInterval: the connection interval that it asks each central for, 7.5 ms to 4 s; nil for none.
    ///   - pairing: how it pairs.
    ///   - delegate: answers requests for values that the peripheral does not store, and receives callbacks for the
    ///     actions of centrals. Held weakly.
    public convenience init(
        name: String?, advertising advertised: [any CBUUIDConvertible]? = nil, services: [VirtualService] = [],
        isConnectable: Bool = true, proximity: TestRadio.Proximity = .near, address: Address = .public, mtu: Int = 517,
        connectionInterval: Duration? = nil, pairing: VirtualPairing = .justWorks,
        delegate: (any VirtualPeripheralDelegate)? = nil
    ) {
        let uuids = advertised?.map(\.cbuuid) ?? services.filter(\.isPrimary).map(\.uuid)
        self.init(
            name: name,
            advertisements: [VirtualAdvertisement(name: name, services: uuids, isConnectable: isConnectable)],
            services: services, proximity: proximity, address: address, mtu: mtu,
            connectionInterval: connectionInterval, pairing: pairing, delegate: delegate)
    }

    /// Creates a peripheral that advertises what a test says. It takes part when it is added to a radio.
    ///
    /// - Parameters:
    ///   - name: the name that its Device Name holds, which need not be advertised.
    ///   - advertisements: the payloads that it advertises, up to eight at the same time; none for a silent peripheral.
    public convenience init(
        name: String?, advertisements: [VirtualAdvertisement], services: [VirtualService] = [],
        proximity: TestRadio.Proximity = .near, address: Address = .public, mtu: Int = 517,
        connectionInterval: Duration? = nil, pairing: VirtualPairing = .justWorks,
        delegate: (any VirtualPeripheralDelegate)? = nil
    ) {
        let settings = Settings(
            name: name, services: services, advertisements: advertisements, connectionInterval: connectionInterval)
        self.init(settings, proximity, address, mtu: mtu, pairing, delegate, nil)
    }

    init(
        _ settings: sending Settings, _ proximity: TestRadio.Proximity, _ address: Address, mtu: Int,
        _ pairing: VirtualPairing, _ delegate: (any VirtualPeripheralDelegate)?, _ recording: Recording?
    ) {
        self.settings = Mutex(settings)
        self.proximity = proximity
        self.address = address
        self.pairing = pairing
        self.delegate = delegate
        self.recording = recording
        script = AttributeScript(mtu: mtu)
    }

    deinit {
        for task in tasks.withLock({ $0.running.values.map { $0 } }) { task.cancel() }
    }

    /// Opens the device and starts advertising. Returns its adapter.
    ///
    /// - Parameters:
    ///   - place: its place on the air.
    ///   - port: the port to its controller, which follows the script.
    ///   - seed: the seed of its host.
    ///   - hasSecurity: whether it can pair, which needs random numbers of the system.
    ///   - identifier: the app's name for a device.
    func appear(
        at place: Place, port: some PacketPort, seed: UInt64, hasSecurity: Bool = true,
        identifier: @escaping @Sendable (DeviceAddress) -> UUID
    ) async throws -> Adapter {
        precondition(device == nil, "a peripheral can be on one radio only")
        place.setProximity(proximity)
        let adapter = try await Adapter.open(port, options: options(seed, hasSecurity))
        guard let address = adapter.information?.address else { throw BluetoothError.adapterRemoved }
        device = Device(place: place, adapter: adapter, address: address, identifier: identifier)
        let events = adapter.characteristicEvents(), links = adapter.events()
        self.events.withLock { $0 = events }
        try await publish()
        run { [weak self] in
            do {
                for try await event in events { await self?.handle(event) }
            } catch {
                // The device is gone, together with its radio.
            }
        }
        run { [weak self] in
            do {
                for try await event in links { await self?.handle(event) }
            } catch {
                // The device is gone, together with its radio.
            }
        }
        if hasSecurity, let agent = pairing.agent(of: self) {
            run {
                // Until the task is cancelled.
                try? await adapter.withPairingAgent(agent) {
                    for try await _ in adapter.events() {}
                }
            }
        }
        try await advertise()
        return adapter
    }

    /// The sequence of the events of all services.
    let events = Mutex<EventSequence<CharacteristicEvent>?>(nil)

    /// Configures the controller of a peripheral.
    static func configure(_ controller: inout ControllerConfiguration) {
        // Several payloads at the same time.
        controller.hasExtendedAdvertising = true
        // `ScriptedLinks` replaces a packet with another one of any length.
        controller.aclDataLength = 1024
    }

    private func options(_ seed: UInt64, _ hasSecurity: Bool) -> AdapterOptions {
        var options = hasSecurity ? AdapterOptions(seed: seed) : AdapterOptions(host: HostConfiguration(seed: seed))
        options.host.deviceName = settings.withLock { $0.name } ?? ""
        // The database is all the peripheral's own, so that a test can change every part of it.
        options.host.publishesOwnServices = false
        // `ScriptedLinks` sees the attribute channel only, and the controller does not see what it drops.
        options.host.enhancedBearers = 0
        options.host.receiveBufferCount = 0
        switch address {
        case .public: break
        case .random(let value):
            options.host.ownAddress = .staticRandom(DeviceAddress(value | 0xC000_0000_0000, kind: .random))
        case .rotating(let rotation): options.host.privacy = .resolvable(rotation: rotation)
        }
        return options
    }

    var present: Device {
        guard let device else { preconditionFailure("add the peripheral to a TestRadio first") }
        return device
    }

    /// Starts a task that ends with the peripheral.
    func run(_ body: @escaping @Sendable () async -> Void) {
        let surroundings = present.place.surroundings
        // The lock is held so that a task that ends immediately is not removed before it is added.
        tasks.withLock { tasks in
            tasks.last += 1
            let number = tasks.last
            tasks.running[number] = surroundings.start { [weak self] in
                await body()
                self?.ended(number)
            }
        }
    }

    private func ended(_ number: Int) { tasks.withLock { _ = $0.running.removeValue(forKey: number) } }

    /// Lets time pass until `body` returns.
    func passing<Value: Sendable>(
        _ call: TestCall, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await present.place.surroundings.passing(call, body)
    }

    /// The name of the peripheral in messages.
    var label: String { settings.withLock { $0.name } ?? "without a name" }

    // MARK: - Responses

    /// Changes how the peripheral responds to some requests, until `respondNormally()`. A later call takes precedence.
    ///
    ///     sensor.respond(to: .read, of: "2A38", with: .error(.unlikelyError))
    ///     sensor.respond(to: .discoverServices, with: .after(.seconds(5)))
    ///     sensor.respond(to: .write, of: "2A39", with: .disconnect, skipping: 2)
    ///
    /// The values that the peripheral stores change only if it responds normally.
    ///
    /// - Parameters:
    ///   - kind: what the central asks for.
    ///   - uuid: the attribute, as in `VirtualRequest.uuid`; nil for any.
    ///   - response: the response.
    ///   - times: the number of requests that get this response.
    ///   - count: the number of requests before them that get their usual response.
    public func respond(
        to kind: VirtualRequest.Kind, of uuid: (any CBUUIDConvertible)? = nil, with response: VirtualResponse,
        times: Int = .max, skipping count: Int = 0
    ) {
        script.add(kind, uuid?.cbuuid.bluetooth, skipping: count, times: times) { _ in response }
    }

    /// Decides about each request, until `respondNormally()`. Requests to Generic Access and Generic Attribute, which
    /// the app's stack makes, are not passed to `body`.
    ///
    ///     sensor.respond { request in
    ///         request.value.count > 4 ? .error(.unlikelyError) : .normal
    ///     }
    public func respond(_ body: @escaping @Sendable (VirtualRequest) -> VirtualResponse) {
        script.add(nil, nil, skipping: 0, times: .max, body)
    }

    /// Responds to all requests as its services say, as it does at first.
    public func respondNormally() { script.removeAll() }
}
