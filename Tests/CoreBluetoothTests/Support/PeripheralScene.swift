import BluetoothGATT
import BluetoothLE
import CoreBluetooth
import Testing
import VirtualRadio

/// A peripheral manager that is on, and centrals that are adapters of `BluetoothLE`, on one radio.
struct PeripheralScene {
    let stage = Stage()
    let port: VirtualRadio.Port
    let delegate: PeripheralRecorder
    let manager: CBPeripheralManager

    static let service = CBUUID(string: "E07F0AE8-00BB-47F5-94F4-4A7174EA3032")
    static let address = DeviceAddress(0xC0_FF_EE_00_00_01, kind: .public)

    var recorder: Recorder { delegate.recorder }

    /// - Parameter characteristics: the characteristics of a service that is added; where there are none it is not.
    init(_ characteristics: CBMutableCharacteristic..., pairing: BluetoothPairing? = nil) async {
        let delegate = PeripheralRecorder(Recorder("peripheral"))
        let port = stage.radio.addController { $0.publicAddress = Self.address }
        (self.delegate, self.port) = (delegate, port)
        manager = stage.with(port, pairing: pairing) {
            CBPeripheralManager(delegate: delegate, queue: delegate.recorder.queue)
        }
        await recorder.expect("state poweredOn")
        if !characteristics.isEmpty { await add(CBMutableService(Self.service.uuidString, characteristics)) }
    }

    /// Adds a service and waits until it is there.
    func add(_ service: CBMutableService, sourceLocation: SourceLocation = #_sourceLocation) async {
        manager.add(service)
        await recorder.expect("added \(service.uuid.uuidString) -", sourceLocation: sourceLocation)
    }

    /// A central with a link to the manager.
    func central(mtu: UInt16 = 517) async throws -> Connection {
        if !manager.isAdvertising {
            manager.startAdvertising(nil)
            await recorder.expect("advertising true -")
        }
        return try await link(from: stage.radio.addController(), mtu: mtu)
    }

    /// A link from a controller.
    func link(from port: VirtualRadio.Port, mtu: UInt16 = 517) async throws -> Connection {
        var options = AdapterOptions()
        options.host.preferredMTU = mtu
        let adapter = try await Adapter.open(port, options: options)
        stage.keep(adapter)
        return try await adapter.connect(to: Self.address)
    }

    /// How many updates to one central wait at most.
    static let capacity = 64

    /// Updates a value until there is no room for it. None is made meanwhile: the controller no longer reports which of
    /// its buffers are free, until `setReports` ends that.
    func fill(_ characteristic: CBMutableCharacteristic, sourceLocation: SourceLocation = #_sourceLocation) {
        setReports(areLost: true)
        let buffers = stage.radio.withAir { air, _ in Int(air[port.identifier].configuration.aclBufferCount) }
        // Updates in the controller's buffers do not wait any longer.
        let limit = Self.capacity + buffers
        let count = (0...limit).prefix { _ in
            manager.updateValue(Data([1]), for: characteristic, onSubscribedCentrals: nil)
        }.count
        #expect(Self.capacity...limit ~= count, sourceLocation: sourceLocation)
    }

    /// Sets whether what the manager's controller reports is lost.
    func setReports(areLost: Bool) {
        stage.radio.withAir { air, _ in air[port.identifier].faults.isSilent = areLost }
    }

    /// Waits until all that has happened up to now has been told.
    ///
    /// - Parameter uuid: a characteristic of which a central can read; its request comes behind everything else.
    func settle(_ central: Connection, _ uuid: BluetoothUUID) async throws {
        let characteristic = try await central.characteristic(uuid)
        let reading = Task { try await central.read(characteristic) }
        await recorder.skip(to: "read \(uuid)")
        if let request = await recorder.onQueue({ delegate.requests.popLast() }) {
            manager.respond(to: request, withResult: .success)
        }
        _ = try await reading.value
    }
}

extension Connection {
    /// The first characteristic with a UUID.
    func characteristic(_ uuid: BluetoothUUID) async throws -> DiscoveredCharacteristic {
        for service in try await discoverServices() {
            if let found = try await discoverCharacteristics(uuid, of: service).first { return found }
        }
        throw BluetoothError.notFound(uuid)
    }

    /// Reads the first characteristic with a UUID. If an indication of changed services arrives after the discovery,
    /// tries again: there is one for each change.
    func read(first uuid: BluetoothUUID) async throws -> [UInt8] {
        while true {
            do {
                return try await read(try await characteristic(uuid))
            } catch let error as BluetoothError where error.code == .servicesChanged {
                continue
            }
        }
    }

    /// Carries out one operation.
    func perform(_ operation: GATTClientOperation) async throws -> GATTClientResult {
        let session = try openSession()
        session.begin(operation, as: 1)
        for try await case .ended(1, let result) in session.events { return try result.get() }
        throw BluetoothError.cancelled
    }
}

extension CBMutableService {
    convenience init(_ uuid: String, _ characteristics: [CBMutableCharacteristic] = []) {
        self.init(type: CBUUID(string: uuid), primary: true)
        self.characteristics = characteristics
    }
}

extension CBMutableCharacteristic {
    /// A characteristic that may be used as its properties tell.
    convenience init(_ uuid: String, _ properties: CBCharacteristicProperties, value: Data? = nil) {
        var permissions: CBAttributePermissions = []
        if properties.contains(.read) { permissions.insert(.readable) }
        if !properties.isDisjoint(with: [.write, .writeWithoutResponse]) { permissions.insert(.writeable) }
        self.init(type: CBUUID(string: uuid), properties: properties, value: value, permissions: permissions)
    }
}
