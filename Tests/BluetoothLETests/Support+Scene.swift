import AdapterTestSupport
import Logging
import Testing
import VirtualRadio

@testable import BluetoothLE

/// Two adapters on a radio of their own, connected, with a service on the peripheral's side.
struct Scene {
    let radio: VirtualRadio
    let centralPort, peripheralPort: VirtualRadio.Port
    let central, peripheral: Adapter
    let service: PublishedService
    /// The link as the central has it.
    let connection: Connection

    static let service: BluetoothUUID = "E07F0AE8-00BB-47F5-94F4-4A7174EA3032"
    /// A value that the database keeps, which can be read and written in all ways.
    static let stored: BluetoothUUID = "F001"
    /// A value the application is asked for.
    static let dynamic: BluetoothUUID = "F002"
    static let notified: BluetoothUUID = "F003"
    static let indicated: BluetoothUUID = "F004"
    /// It notifies and indicates.
    static let both: BluetoothUUID = "F006"
    /// Nobody has subscribed to this one.
    static let spare: BluetoothUUID = "F005"

    static let definition = GATTServiceDefinition(
        uuid: service,
        characteristics: [
            .init(
                uuid: stored, properties: [.read, .write, .writeWithoutResponse],
                value: .variableLength([1, 2, 3]), descriptors: [.userDescription("stored")]),
            .init(uuid: dynamic, properties: [.read, .write], value: .dynamic),
            .init(uuid: notified, properties: .notify, value: .dynamic),
            .init(uuid: indicated, properties: .indicate, value: .dynamic),
            .init(uuid: spare, properties: .notify, value: .dynamic),
            .init(uuid: both, properties: [.notify, .indicate], value: .dynamic),
        ])

    init(
        time: VirtualRadio.Time = .system, centralOptions: AdapterOptions = .init(seed: 1),
        peripheralOptions: AdapterOptions = .init(seed: 2),
        loggers: (central: Logger?, peripheral: Logger?) = (nil, nil),
        _ configure: @Sendable (inout ControllerConfiguration) -> Void = { _ in }
    ) async throws {
        let radio = VirtualRadio(time: time)
        self.radio = radio
        let (centralPort, peripheralPort) = (radio.addController(configure), radio.addController(configure))
        (self.centralPort, self.peripheralPort) = (centralPort, peripheralPort)
        (central, peripheral, service, connection) = try await radio.passing {
            let central = try await Adapter.open(centralPort, options: centralOptions, logger: loggers.central)
            let peripheral = try await Adapter.open(
                peripheralPort, options: peripheralOptions, logger: loggers.peripheral)
            let service = try await peripheral.publish(Self.definition)
            try await peripheral.advertise(AdvertisementData(name: "Scene"))
            let address = try #require(peripheral.information?.address)
            let connection = try await central.connect(to: address)
            return (central, peripheral, service, connection)
        }
    }

    /// What the central would find by discovery.
    func remote(_ uuid: BluetoothUUID) throws -> DiscoveredCharacteristic {
        let index = try #require(Self.definition.characteristics.firstIndex { $0.uuid == uuid })
        let handles = service.handles.characteristics[index]
        let next = service.handles.characteristics.dropFirst(index + 1).first?.declaration.rawValue
        return DiscoveredCharacteristic(
            uuid: uuid, declarationHandle: handles.declaration, valueHandle: handles.value,
            endHandle: next.map { AttributeHandle($0 - 1) } ?? service.handles.end,
            properties: Self.definition.characteristics[index].properties)
    }

    func local(_ uuid: BluetoothUUID) throws -> PublishedCharacteristic { try #require(service[uuid]) }

    /// Subscribes and waits until the peripheral knows.
    func subscribe(
        to uuid: BluetoothUUID
    ) async throws -> (values: EventSequence<[UInt8]>, subscriber: Subscriber) {
        let (characteristic, local) = (try remote(uuid), try local(uuid))
        let values = try await radio.passing { [connection] in try await connection.notifications(of: characteristic) }
        return (values, try #require(local.subscribers.first))
    }

    /// Whether the central can read from the peripheral, over the link there is or a new one.
    func works() async throws -> Bool {
        let address = try #require(peripheral.information?.address)
        let handle = try remote(Self.stored).valueHandle
        return try await radio.passing { [central] in
            let connection =
                if let present = central.connections.first { present } else {
                    try await central.connect(to: address)
                }
            return try await !connection.read(handle).isEmpty
        }
    }
}
