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

    @Test("A device received in the turn in which the adapter is lost is reported before the scan ends")
    func lostAdapter() {
        var scene = SharedScene(users: first)
        scene.perform(.scan(ScanFilter(), ScanParameters()), 1, of: first)
        let packet = bytes("04 3E 0C 02 01 00 00 0100 00EEFFC0 00 D8")
        scene.host.receive(packet.span, at: .zero)
        scene.host.controllerLost(at: .zero)
        scene.host.endTurn(at: .zero)
        var events: [UserEvent] = []
        scene.host.deliverEvents { events = $0.events }
        #expect(events.count == 3)
        guard case .sightings(CallToken(rawValue: 1), 0..<1)? = events.first else {
            Issue.record("no sighting comes first: \(events)")
            return
        }
    }

    @Test("A turn with few sightings does not use the memory of a turn with many")
    func sightingMemory() {
        var scene = SharedScene(users: first)
        scene.perform(.scan(ScanFilter(), ScanParameters(reportsDuplicates: true)), 1, of: first)
        let packet = bytes("04 3E 0C 02 01 00 00 0100 00EEFFC0 00 D8")
        var kept: [[Sighting]] = []
        for count in [1000, 1, 1] {
            for _ in 0..<count { scene.host.receive(packet.span, at: .zero) }
            scene.host.endTurn(at: .zero)
            scene.host.deliverEvents { kept.append($0.sightings) }
        }
        #expect(kept.map(\.count) == [1000, 1, 1])
        #expect(kept[0].capacity >= 1000)
        // The array of the second turn was made before its size was known.
        #expect(kept[2].capacity <= 8)
    }

    @Test("The sightings of a turn are one event for each scan, and all users share them")
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
        #expect(scene.sightingEvents[second] == ["1: 0..<2", "2: 0..<2"])
        #expect(scene.sightingCounts == [first: 2, second: 2])
    }

    @Test("Each scan gets the sightings that match its filter, in order")
    func filteredSightings() {
        var scene = SharedScene(users: first, second)
        scene.perform(.scan(ScanFilter(services: ["180D"]), ScanParameters()), 1, of: first)
        scene.perform(.scan(ScanFilter(isConnectableOnly: true), ScanParameters()), 2, of: second)
        // Heart rate, connectable; connectable; heart rate; neither; heart rate, connectable.
        let reports = [(0, true), (0, false), (3, true), (3, false), (0, true)].enumerated().flatMap { number, report in
            bytes("0\(report.0) 00 0\(number)00 00EEFFC0") + bytes(report.1 ? "04 03 03 0D 18 D8" : "00 D8")
        }
        scene.receive(packet: [0x04, 0x3E, UInt8(2 + reports.count)] + bytes("02 05") + reports)
        #expect(scene.sightingEvents == [first: ["1: 0..<1", "1: 2..<4"], second: ["2: 0..<2", "2: 3..<4"]])
    }

    @Test("A scan does not get what was received before it began, and the last scan to end forgets all devices")
    func laterScan() {
        var scene = SharedScene(users: first, second)
        let heartRate = bytes("02 01 00 00 0100 00EEFFC0 04 03 03 0D 18 D8")
        let name = bytes("02 01 04 00 0100 00EEFFC0 04 03 09 61 62 D8")
        let filter = ScanFilter(services: ["180D"])
        func receive(_ report: [UInt8]) -> [UserID: [String]] {
            scene.receive(packet: [0x04, 0x3E, UInt8(report.count)] + report)
            return scene.takeSightingEvents()
        }
        scene.perform(.scan(filter, ScanParameters(reportsDuplicates: false)), 1, of: first)
        #expect(receive(heartRate)[first] == ["1: 0..<1"])
        scene.perform(.scan(filter, ScanParameters(reportsDuplicates: false)), 2, of: second)
        // For the first scan this completes the data. The second one does not know the service yet.
        #expect(receive(name) == [first: ["1: 0..<1"]])
        #expect(receive(heartRate) == [second: ["2: 0..<1"]])
        #expect(receive(heartRate) == [:])
        scene.perform(.cancel, 1, of: first)
        #expect(receive(heartRate) == [:])
        scene.perform(.cancel, 2, of: second)
        scene.perform(.scan(filter, ScanParameters(reportsDuplicates: false)), 3, of: second)
        #expect(receive(heartRate) == [second: ["3: 0..<1"]])
    }
}
