import BluetoothLE
import CoreBluetooth
import Foundation
import VirtualRadio

/// A central that uses an app's `CBPeripheralManager` in a test.
///
///     let phone = try await VirtualCentral(on: air)
///     try await phone.simulateConnection(to: "180D")
///     let values = try await phone.subscribe(to: "2A37", in: "180D")
///
/// If the app rejects a request, the call throws a `CBATTError`. Calls that need a connection throw
/// `CBError(.notConnected)` without one.
public final class VirtualCentral: Sendable {
    private let adapter: Adapter
    private let radio: VirtualRadio
    private let app: VirtualRadio.Port
    private let port: VirtualRadio.Port

    /// Creates a central on a test's radio, and opens its adapter.
    ///
    /// - Parameters:
    ///   - radio: the test's radio.
    ///   - mtu: the ATT_MTU that the central requests, in octets.
    public init(on radio: TestRadio, mtu: Int = 517) async throws {
        self.radio = radio.radio
        app = radio.port
        port = radio.radio.addController()
        var options = AdapterOptions()
        options.host.preferredMTU = UInt16(clamping: mtu)
        adapter = try await Adapter.open(port, options: options)
        radio.include(adapter)
    }

    // MARK: - The link

    /// Waits until the app advertises a service, and connects.
    public func simulateConnection(to service: some CBUUIDConvertible) async throws {
        let sighting = try await adapter.firstSighting(for: ScanFilter(services: [service.bluetooth]))
        _ = try await adapter.connect(to: sighting.address)
    }

    /// Ends the connection.
    public func simulateDisconnection() async throws { try await connection.disconnect() }

    /// Moves the central. Out of range, the link is lost after its supervision timeout.
    public func simulateProximityChange(_ proximity: TestRadio.Proximity) {
        radio.setPathLoss(between: app, and: port, to: proximity.pathLoss)
    }

    // MARK: - The app's services

    /// The app's services, without those of its stack.
    public var services: [CBUUID] {
        get async throws {
            try await connection.discoverServices().map(\.uuid)
                .filter { $0 != .genericAccess && $0 != .genericAttribute }.map { CBUUID($0) }
        }
    }

    /// Reads a value of any length.
    public func read(_ characteristic: some CBUUIDConvertible, in service: some CBUUIDConvertible) async throws -> Data
    {
        try await refusing { Data(try await connection.read(find(characteristic, service))) }
    }

    /// Writes a value, and waits for the response if the write has one.
    public func write(
        _ value: Data, to characteristic: some CBUUIDConvertible, in service: some CBUUIDConvertible,
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

    /// Subscribes to a characteristic while the sequence is referenced. No value is missed.
    public func subscribe(to characteristic: some CBUUIDConvertible, in service: some CBUUIDConvertible) async throws
        -> ValueUpdates
    {
        try await refusing {
            ValueUpdates(values: try await connection.notifications(of: find(characteristic, service)))
        }
    }

    /// Ends a subscription, and waits until the request has reached the app.
    public func unsubscribe(from characteristic: some CBUUIDConvertible, in service: some CBUUIDConvertible)
        async throws
    {
        try await refusing { try await connection.unsubscribe(from: find(characteristic, service)) }
    }

    private var connection: Connection {
        get async throws {
            guard let connection = adapter.connections.first else { throw CBError(.notConnected) }
            return connection
        }
    }

    private func find(
        _ characteristic: some CBUUIDConvertible, _ service: some CBUUIDConvertible
    ) async throws -> DiscoveredCharacteristic {
        try await connection.characteristic(characteristic.bluetooth, in: service.bluetooth)
    }

    private func refusing<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let error as BluetoothError {
            guard let refusal = error.attError else { throw error }
            throw CBATTError(CBATTError.Code(rawValue: Int(refusal.code.rawValue)) ?? .unlikelyError)
        }
    }
}
