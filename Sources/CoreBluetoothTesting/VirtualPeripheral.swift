import BluetoothLE
import CoreBluetooth
import VirtualRadio

/// What a `VirtualPeripheral` is asked, and told. Every method may be left out.
public protocol VirtualPeripheralDelegate: AnyObject {
    /// A central reads a value that the peripheral does not keep. To throw a `CBATTError` refuses; so does leaving this out.
    func peripheral(_ peripheral: VirtualPeripheral, valueOf characteristic: CBUUID) throws -> Data
    /// A central writes a value. To throw a `CBATTError` refuses one that the peripheral does not keep.
    func peripheral(_ peripheral: VirtualPeripheral, didReceive value: Data, for characteristic: CBUUID) throws
    /// A central has subscribed, or ended that.
    func peripheral(_ peripheral: VirtualPeripheral, isSubscribed: Bool, to characteristic: CBUUID)
}

extension VirtualPeripheralDelegate {
    public func peripheral(_ peripheral: VirtualPeripheral, valueOf characteristic: CBUUID) throws -> Data {
        throw CBATTError(.readNotPermitted)
    }

    public func peripheral(_ peripheral: VirtualPeripheral, didReceive value: Data, for characteristic: CBUUID) throws {
    }

    public func peripheral(_ peripheral: VirtualPeripheral, isSubscribed: Bool, to characteristic: CBUUID) {}
}

/// A peripheral that a test declares, and then has do things.
///
/// It is a device of its own on the test's radio, with a real stack: what an app sees of it is what it would see of
/// hardware that behaves so.
public final class VirtualPeripheral: @unchecked Sendable {
    // Unchecked: what changes after `appear` is set there once, before anybody else has a use for it.

    private let name: String?
    private let advertised: [CBUUID]
    private let services: [VirtualService]
    private let isConnectable: Bool
    private let proximity: TestRadio.Proximity
    private weak var delegate: (any VirtualPeripheralDelegate)?

    private var radio: TestRadio?
    private var port: VirtualRadio.Port?
    private var adapter: Adapter?
    private var published: [(uuid: CBUUID, characteristic: PublishedCharacteristic)] = []
    private var serving: [Task<Void, Never>] = []

    /// - Parameters:
    ///   - name: its name, which it advertises, and tells as its Device Name.
    ///   - advertised: the services it advertises; where left out, all it has.
    ///   - services: what it offers.
    ///   - isConnectable: whether centrals may connect.
    ///   - proximity: how far it is away at first.
    ///   - delegate: who is asked for values that are not kept, and told what centrals do. Held weakly.
    public init(
        name: String?, advertising advertised: [String]? = nil, services: [VirtualService] = [],
        isConnectable: Bool = true, proximity: TestRadio.Proximity = .near,
        delegate: (any VirtualPeripheralDelegate)? = nil
    ) {
        self.name = name
        self.advertised = advertised?.map { CBUUID(string: $0) } ?? services.map(\.uuid)
        self.services = services
        self.isConnectable = isConnectable
        self.proximity = proximity
        self.delegate = delegate
    }

    deinit {
        for task in serving { task.cancel() }
    }

    /// Opens the device and has it advertise.
    func appear(on radio: TestRadio) async throws {
        precondition(self.radio == nil, "a peripheral can be on one radio only")
        let port = radio.radio.addController()
        radio.radio.setPathLoss(between: radio.port, and: port, to: proximity.pathLoss)
        (self.radio, self.port) = (radio, port)
        var options = Adapter.Options()
        if let name { options.host.deviceName = name }
        let adapter = try await Adapter.open(port, options: options)
        self.adapter = adapter
        for service in services {
            let result = try await adapter.publish(service.definition)
            for (declared, characteristic) in zip(service.characteristics, result.characteristics) {
                published.append((declared.uuid, characteristic))
                serve(declared.uuid, characteristic)
            }
        }
        try await simulateAdvertising()
    }

    // MARK: - What a test has it do

    /// Begins to advertise, as it does when it appears.
    public func simulateAdvertising() async throws {
        var advertisement = AdvertisementData()
        advertisement.localName = name.map { .complete($0) }
        advertisement.serviceUUIDs = advertised.map(\.bluetooth)
        try await adapter?.advertise(advertisement, isConnectable: isConnectable)
    }

    /// Falls silent: it is not found any more. Links stay.
    public func simulateSilence() async {
        await adapter?.stopAdvertising()
    }

    /// How many centrals are connected.
    public var connectionCount: Int {
        get async { await adapter?.connections.count ?? 0 }
    }

    /// Waits until a central has connected, which it is the app's to do.
    public func simulateConnection() async throws {
        guard let adapter else { return }
        // Before looking, so that none is missed.
        let events = await adapter.events()
        guard await adapter.connections.isEmpty else { return }
        for try await case .connected in events { return }
    }

    /// Ends the links: the app is told that the peripheral has disconnected.
    public func simulateDisconnection() async throws {
        for connection in await adapter?.connections ?? [] { try await connection.disconnect() }
    }

    /// Moves the peripheral. Out of range, links are lost after their supervision timeout.
    public func simulateProximityChange(_ proximity: TestRadio.Proximity) {
        guard let radio, let port else { return }
        radio.radio.setPathLoss(between: radio.port, and: port, to: proximity.pathLoss)
    }

    /// Changes a value, and notifies or indicates it to those who are subscribed.
    ///
    /// - Throws: where a subscriber has left meanwhile.
    public func simulateValueUpdate(_ value: Data, for uuid: String) async throws {
        for (_, characteristic) in published where characteristic.uuid == CBUUID(string: uuid).bluetooth {
            if await characteristic.value != nil { try await characteristic.setValue([UInt8](value)) }
            for subscriber in await characteristic.subscribers {
                do throws(BluetoothError) {
                    try await subscriber.notify([UInt8](value))
                } catch {
                    guard case .host(.server(.notSubscribed)) = error else { throw error }
                    try await subscriber.indicate([UInt8](value))
                }
            }
        }
    }

    /// Has it crash, and start anew: links are lost without a word, and it advertises again.
    public func simulateReset() {
        port?.unplug()
        port?.plugIn()
    }

    // MARK: - What centrals do

    private func serve(_ uuid: CBUUID, _ characteristic: PublishedCharacteristic) {
        let events = characteristic.events
        serving.append(
            Task { [weak self] in
                do {
                    for try await event in events { await self?.handle(event, uuid) }
                } catch {
                    // The device is gone with its radio.
                }
            })
    }

    private func handle(_ event: CharacteristicEvent, _ uuid: CBUUID) async {
        switch event {
        case .subscribed: delegate?.peripheral(self, isSubscribed: true, to: uuid)
        case .unsubscribed: delegate?.peripheral(self, isSubscribed: false, to: uuid)
        case .written(let value, _, _): try? delegate?.peripheral(self, didReceive: Data(value), for: uuid)
        case .readRequested(let request):
            do {
                guard let delegate else { throw CBATTError(.readNotPermitted) }
                try await request.respond([UInt8](delegate.peripheral(self, valueOf: uuid)))
            } catch {
                try? await request.refuse(Self.code(of: error))
            }
        case .writeRequested(let request):
            do {
                // The parts of a long write are one value.
                let value = request.parts.reduce(into: Data()) { $0.append(contentsOf: $1.value) }
                try delegate?.peripheral(self, didReceive: value, for: uuid)
                try await request.accept()
            } catch {
                try? await request.refuse(Self.code(of: error))
            }
        }
    }

    private static func code(of error: any Error) -> ATTErrorCode {
        guard let error = error as? CBATTError else { return .unlikelyError }
        return ATTErrorCode(rawValue: UInt8(truncatingIfNeeded: error.code.rawValue))
    }
}
