import BluetoothLE
import CoreBluetooth
import Foundation
import TestSupport
import Testing
import VirtualRadio

@Suite("E: known peripherals", .timeLimit(.minutes(30)))
struct KnownPeripheralTests {
    @Test("Row 46: the database of a known peripheral is not discovered again")
    func discoverAgain() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).btsnoop").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let scene = try await CentralScene(captureFile: path)
        let (peripheral, found) = try await scene.discovered()
        // Before it is used, what was found is verified.
        peripheral.readValue(for: try #require(found[CentralScene.stored]))
        await scene.recorder.skip(to: "value F001")
        scene.manager.cancelPeripheralConnection(peripheral)
        await scene.recorder.skip(to: "disconnected disconnected -")
        scene.manager.connect(peripheral)
        await scene.recorder.skip(to: "connected connected")
        #expect(try await scene.discover(peripheral).keys == found.keys)
        scene.manager.cancelPeripheralConnection(peripheral)
        await scene.recorder.skip(to: "disconnected disconnected -")
        await scene.peripheral.close()

        let requests = try receivedAttributePDUs(
            inCapture: [UInt8](#require(FileManager.default.contents(atPath: path))))
        // A fourth time only if the host came to watch changes on the first link.
        #expect((3...4).contains(requests.filter { $0 == databaseHashRequest }.count))
        let again = try #require(requests.lastIndex(of: databaseHashRequest))
        // What the host asks for by itself may not have been found the first time.
        let handle = scene.service.handles.declaration.rawValue
        let services: [UInt8] = [0x10, 0x01, 0x00, 0xFF, 0xFF, 0x00, 0x28]
        let characteristics = [0x08, UInt8(handle & 0xFF), UInt8(handle >> 8)]
        for request in [services, characteristics] {
            #expect(requests[..<again].contains { $0.starts(with: request) })
            #expect(!requests[again...].contains { $0.starts(with: request) })
        }
    }
}
