import Foundation
import TestSupport
import Testing
import VirtualRadio

@testable import BluetoothLE

@Suite("Known peers", .timeLimit(.minutes(30)))
struct KnownPeerTests {
    @Test("A known peer's database is validated by its Database Hash instead of being discovered again")
    func discoverAgain() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).btsnoop").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let scene = try await Scene(peripheralOptions: AdapterOptions(seed: 2, captureFile: path))
        let address = try #require(scene.peripheral.information?.address)
        let found = try await scene.connection.discoverAll()
        #expect(found.characteristics.count > 6)
        await scene.central.runner.waitUntilIdle()
        try await scene.connection.disconnect()

        let connection = try await scene.central.connect(to: address)
        #expect(try await connection.discoverAll() == found)
        let service = try await connection.discoverServices(Scene.service)
        #expect(service == found.services.filter { $0.uuid == Scene.service })
        _ = try await connection.characteristic(Scene.stored, in: Scene.service)
        await scene.central.runner.waitUntilIdle()
        try await connection.disconnect()
        await scene.peripheral.close()

        let requests = try receivedAttributePDUs(
            inCapture: [UInt8](#require(FileManager.default.contents(atPath: path))))
        // On each link again once changes are watched.
        let hashes = requests.indices.filter { requests[$0] == databaseHashRequest }
        try #require(hashes.count == 4)
        let again = hashes[2]
        #expect(requests[..<again].contains(where: isDiscoveryRequest))
        #expect(!requests[again...].contains(where: isDiscoveryRequest), "\(requests)")
    }

    @Test("A peer's database is discovered again after it has been forgotten", arguments: [true, false])
    func forget(isConnected: Bool) async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).btsnoop").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let scene = try await Scene(peripheralOptions: AdapterOptions(seed: 2, captureFile: path))
        let address = try #require(scene.peripheral.information?.address)
        let found = try await scene.connection.discoverAll()
        try await scene.connection.disconnect()

        if !isConnected { try await scene.central.forgetServices(of: PeerID(address)) }
        let connection = try await scene.central.connect(to: address)
        if isConnected {
            #expect(try await connection.discoverAll() == found)
            try await scene.central.forgetServices(of: PeerID(address))
        }
        #expect(try await connection.discoverAll() == found)
        try await connection.disconnect()
        await scene.peripheral.close()

        let requests = try receivedAttributePDUs(
            inCapture: [UInt8](#require(FileManager.default.contents(atPath: path))))
        // The second link begins with Exchange MTU, as the first did.
        let again = try #require(requests.lastIndex { $0.first == 0x02 })
        #expect(requests[again...].contains(where: isDiscoveryRequest))
    }
}
