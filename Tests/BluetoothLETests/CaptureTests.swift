import BluetoothBase
import BluetoothHCI
import Foundation
import Testing
import VirtualRadio

@testable import BluetoothLE

@Suite("Captures")
struct CaptureTests {
    @Test("A capture contains every packet of its adapter and can be read back")
    func capture() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).btsnoop").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let scene = try await Scene(centralOptions: AdapterOptions(seed: 1, captureFile: path))
        try await scene.connection.disconnect()
        await scene.central.close()

        var reader = BTSnoopReader()
        let contents = [UInt8](try #require(FileManager.default.contents(atPath: path)))
        reader.append(contents.span)
        var packet = ByteWriter()
        var directions: [BTSnoop.Direction] = [], types: Set<HCIPacketType> = []
        while let record = try reader.next(into: &packet) {
            if directions.isEmpty { #expect(packet.bytes.suffix(3) == [0x03, 0x0C, 0x00]) }
            directions.append(record.direction)
            if let type = record.type { types.insert(type) }
        }
        #expect(reader.isAtRecordBoundary)
        #expect(directions.first == .sent)
        #expect(types == [.command, .event, .aclData])
        #expect(directions.count > 30)
    }
}
