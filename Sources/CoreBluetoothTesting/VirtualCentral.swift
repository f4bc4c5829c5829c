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
    private let place: Place

    /// Creates a central on a test's radio, and opens its adapter.
    ///
    /// - Parameters:
    ///   - radio: the test's radio.
    ///   - mtu: the ATT_MTU that the central requests, in octets.
    public init(
        on radio: TestRadio, mtu: Int = 517, fileID: String = #fileID, line: Int = #line
    ) async throws {
        let air = radio.air
        place = air.place { _ in }
        let number = air.nextNumber(), port = TestPort(place.port, air.capture, adapter: number)
        adapter = try await air.passing(TestCall(fileID, line)) {
            var options = AdapterOptions(seed: UInt64(number))
            options.host.preferredMTU = UInt16(clamping: mtu)
            return try await Adapter.open(port, options: options)
        }
        air.include(adapter, "a central")
    }

    // MARK: - The link

    /// Waits until the app advertises a service, and connects.
    public func simulateConnection(
        to service: some CBUUIDConvertible, fileID: String = #fileID, line: Int = #line
    ) async throws {
        let filter = ScanFilter(services: [service.bluetooth])
        try await passing(TestCall(fileID, line)) { [adapter] in
            let sighting = try await adapter.firstSighting(for: filter)
            _ = try await adapter.connect(to: sighting)
        }
    }

    /// Ends the connection.
    public func simulateDisconnection(fileID: String = #fileID, line: Int = #line) async throws {
        let connection = try connection
        try await passing(TestCall(fileID, line)) { try await connection.disconnect() }
    }

    /// Moves the central. Out of range, the link is lost after its supervision timeout.
    public func simulateProximityChange(_ proximity: TestRadio.Proximity) {
        place.setProximity(proximity)
    }

    // MARK: - The app's services

    /// The app's services, without those of its stack.
    public var services: [CBUUID] {
        get async throws {
            let connection = try connection
            let found = try await passing(TestCall(#fileID, #line)) {
                try await connection.discoverServices().map(\.uuid)
            }
            return found.filter { $0 != .genericAccess && $0 != .genericAttribute }.map { CBUUID($0) }
        }
    }

    /// Reads a value of any length.
    public func read(
        _ characteristic: some CBUUIDConvertible, in service: some CBUUIDConvertible, fileID: String = #fileID,
        line: Int = #line
    ) async throws -> Data {
        try await using(characteristic, service, TestCall(fileID, line)) { Data(try await $0.read($1)) }
    }

    /// Writes a value, and waits for the response if the write has one.
    public func write(
        _ value: Data, to characteristic: some CBUUIDConvertible, in service: some CBUUIDConvertible,
        type: CBCharacteristicWriteType = .withResponse, fileID: String = #fileID, line: Int = #line
    ) async throws {
        try await using(characteristic, service, TestCall(fileID, line)) { connection, found in
            switch type {
            case .withResponse: try await connection.write([UInt8](value), to: found)
            case .withoutResponse: try await connection.writeWithoutResponse([UInt8](value), to: found)
            }
        }
    }

    /// Subscribes to a characteristic while the sequence is referenced. No value is missed.
    public func subscribe(
        to characteristic: some CBUUIDConvertible, in service: some CBUUIDConvertible, fileID: String = #fileID,
        line: Int = #line
    ) async throws -> ValueUpdates {
        try await using(characteristic, service, TestCall(fileID, line)) {
            ValueUpdates(values: try await $0.notifications(of: $1))
        }
    }

    /// Ends a subscription, and waits until the request has reached the app.
    public func unsubscribe(
        from characteristic: some CBUUIDConvertible, in service: some CBUUIDConvertible, fileID: String = #fileID,
        line: Int = #line
    ) async throws {
        try await using(characteristic, service, TestCall(fileID, line)) { try await $0.unsubscribe(from: $1) }
    }

    private var connection: Connection {
        get throws {
            guard let connection = adapter.connections.first else { throw CBError(.notConnected) }
            return connection
        }
    }

    private func passing<Value: Sendable>(
        _ call: TestCall, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await place.surroundings.passing(call, body)
    }

    /// Finds a characteristic, and uses it. An error response of the app becomes a `CBATTError`.
    private func using<Value: Sendable>(
        _ characteristic: some CBUUIDConvertible, _ service: some CBUUIDConvertible, _ call: TestCall,
        _ body: @escaping @Sendable (Connection, DiscoveredCharacteristic) async throws -> Value
    ) async throws -> Value {
        let connection = try connection, uuid = characteristic.bluetooth, owner = service.bluetooth
        do {
            return try await passing(call) {
                try await body(connection, try await connection.characteristic(uuid, in: owner))
            }
        } catch let error as BluetoothError {
            guard let refusal = error.attError else { throw error }
            throw CBATTError(CBATTError.Code(rawValue: Int(refusal.code.rawValue)) ?? .unlikelyError)
        }
    }
}
