import BluetoothATT
import BluetoothBase
import BluetoothGAP
import BluetoothGATT
import BluetoothHCI
import BluetoothHost
import BluetoothUsers
import TestSupport
import Testing

@Suite("Services of several users")
struct SharedPublishingTests {
    private let first = UserID(number: 1), second = UserID(number: 2)

    private func service(including included: AttributeHandle...) -> GATTServiceDefinition {
        GATTServiceDefinition(uuid: "180F", includes: included, characteristics: [])
    }

    @Test("A user may include its own services and the host's, but not another user's, which may end at any time")
    func includes() {
        var scene = SharedScene(users: first, second)
        // The host's own services end at 0x000D.
        scene.perform(.publish(service(), at: 0x0010), 1, of: first)
        scene.perform(.publish(service(including: 0x0010), at: 0x0020), 2, of: first)
        scene.perform(.publish(service(including: 0x0001), at: 0x0030), 3, of: second)
        scene.perform(.publish(service(including: 0x0030, 0x0010), at: 0x0040), 4, of: second)
        scene.perform(.publishAll([service(including: 0x0020)]), 5, of: second)
        let refusals = [AttributeHandle](arrayLiteral: 0x0010, 0x0020).map { "\(HostError.database(.notFound($0)))" }
        #expect(scene.take(first) == ["1 done", "2 done"])
        #expect(scene.take(second) == ["3 done", "4 failed: \(refusals[0])", "5 failed: \(refusals[1])"])
    }

    @Test("An update is truncated to what fits in one PDU", arguments: [false, true])
    func longUpdate(_ isIndicated: Bool) throws {
        var scene = SharedScene(users: first)
        let definition = GATTServiceDefinition(
            uuid: "180F",
            characteristics: [
                GATTCharacteristicDefinition(
                    uuid: "2A19", properties: isIndicated ? .indicate : .notify, value: .constant([1]))
            ])
        // The host's own services end at 0x000D.
        scene.perform(.publish(definition, at: 0x0010), 1, of: first)
        scene.accept(0x41, from: PeerTests.first, for: first)
        let link = try #require(scene.links.first)
        // Neither what has been written nor what was sent has an answer.
        scene.responses[[0x13]] = []
        scene.receive(bytes(isIndicated ? "12 1300 0200" : "12 1300 0100"), on: 0x41)
        let expected = bytes(isIndicated ? "1D 1200" : "1B 1200") + [UInt8](repeating: 7, count: 20)
        scene.responses[expected] = []
        _ = scene.takePDUs()
        scene.perform(.update(link, 0x0012, [UInt8](repeating: 7, count: 40)), of: first)
        #expect(scene.takePDUs() == [expected.map { hexadecimal($0, digits: 2) }.joined(separator: " ")])
    }

    @Test("Sightings of one turn are not reported again in the next")
    func sightings() {
        var scene = SharedScene(users: first)
        scene.perform(.scan(ScanFilter(), ScanParameters()), 1, of: first)
        for address in UInt64(1)...3 {
            let advertiser = DeviceAddress(address, kind: .public)
            scene.receive(
                LEAdvertisingReport(
                    eventType: .connectableUndirected, address: advertiser, data: Span<UInt8>(), rssi: -50))
            #expect(scene.sightingCounts[first] == 1)
        }
    }

    @Test("The sightings of a scan are one event, unless those of another scan are in between")
    func sightingEvents() {
        var scene = SharedScene(users: first, second)
        for user in [first, second] { scene.perform(.scan(ScanFilter(), ScanParameters()), 1, of: user) }
        // Three reports in one event, of devices with different addresses.
        let reports = (1...3).flatMap { bytes("00 00 0\($0)00 00EEFFC0 00 D8") }
        let event = bytes("02 03") + reports
        scene.receive(packet: [0x04, 0x3E, UInt8(event.count)] + event)
        #expect(scene.sightingEvents == [first: ["1: 0..<3"], second: ["1: 0..<3"]])
        scene.perform(.scan(ScanFilter(), ScanParameters()), 2, of: second)
        let more = (4...5).flatMap { bytes("00 00 0\($0)00 00EEFFC0 00 D8") }
        scene.receive(packet: [0x04, 0x3E, UInt8(2 + more.count)] + bytes("02 02") + more)
        #expect(scene.sightingEvents[first] == ["1: 0..<2"])
        #expect(scene.sightingEvents[second] == ["1: 0..<1", "2: 1..<2", "1: 2..<3", "2: 3..<4"])
    }
}
