import BluetoothLE
import CoreBluetooth
import VirtualRadio

/// A central that a test has use an app's `CBPeripheralManager`.
///
///     let phone = try await VirtualCentral(on: air)
///     try await phone.simulateConnection(to: "180D")
///     let values = try await phone.subscribe(to: "2A37", in: "180D")
public final class VirtualCentral: Sendable {
    private let adapter: Adapter
    private let radio: TestRadio
    private let port: VirtualRadio.Port

    /// - Parameters:
    ///   - radio: the test's radio.
    ///   - mtu: the ATT_MTU it asks for, in octets.
    public init(on radio: TestRadio, mtu: Int = 517) async throws {
        self.radio = radio
        port = radio.radio.addController()
        var options = Adapter.Options()
        options.host.preferredMTU = UInt16(clamping: mtu)
        adapter = try await Adapter.open(port, options: options)
    }

    /// Finds the app by a service that it advertises, and connects.
    public func simulateConnection(to service: String) async throws {
        let sighting = try await adapter.firstSighting(for: ScanFilter(services: [CBUUID(string: service).bluetooth]))
        _ = try await adapter.connect(to: sighting.address)
    }

    /// Ends the connection.
    public func simulateDisconnection() async throws { try await connection.disconnect() }

    /// Moves the central.
    public func simulateProximityChange(_ proximity: TestRadio.Proximity) {
        radio.radio.setPathLoss(between: radio.port, and: port, to: proximity.pathLoss)
    }

    /// The services the app offers, without those of its stack.
    public var services: [CBUUID] {
        get async throws {
            try await connection.discoverServices().map(\.uuid)
                .filter { $0 != .genericAccess && $0 != .genericAttribute }.map { CBUUID(string: "\($0)") }
        }
    }

    /// Reads a value.
    ///
    /// - Throws: a `CBATTError` where the app refuses.
    public func read(_ characteristic: String, in service: String) async throws -> Data {
        try await refusing { Data(try await connection.read(find(characteristic, service))) }
    }

    /// Writes a value, and waits for the answer where there is to be one.
    ///
    /// - Throws: a `CBATTError` where the app refuses.
    public func write(
        _ value: Data, to characteristic: String, in service: String,
        type: CBCharacteristicWriteType = .withResponse
    ) async throws {
        try await refusing {
            let found = try await find(characteristic, service)
            switch type {
            case .withResponse: try await connection.write([UInt8](value), to: found)
            case .withoutResponse: try await connection.writeWithoutResponse([UInt8](value), to: found)
            }
        }
    }

    /// Subscribes to a characteristic, for as long as the sequence is held.
    public func subscribe(to characteristic: String, in service: String) async throws -> EventSequence<[UInt8]> {
        try await connection.notifications(of: find(characteristic, service))
    }

    private var connection: Connection {
        get async throws {
            guard let connection = await adapter.connections.first else { throw CBError(.notConnected) }
            return connection
        }
    }

    private func find(_ characteristic: String, _ service: String) async throws -> DiscoveredCharacteristic {
        try await connection.characteristic(
            CBUUID(string: characteristic).bluetooth, in: CBUUID(string: service).bluetooth)
    }

    private func refusing<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let error as BluetoothError {
            guard case .att(let refusal) = error else { throw error }
            throw CBATTError(CBATTError.Code(rawValue: Int(refusal.code.rawValue)) ?? .unlikelyError)
        }
    }
}
