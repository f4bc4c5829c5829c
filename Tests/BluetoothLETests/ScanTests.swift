import AdapterTestSupport
import BluetoothHost
import Testing
import VirtualRadio

@testable import BluetoothLE

@Suite("Scanning", .timeLimit(.minutes(30)))
struct ScanTests {
    let radio = VirtualRadio(time: .manual)

    private func open(_ name: String? = nil, _ services: [BluetoothUUID] = []) async throws -> (
        adapter: Adapter, port: VirtualRadio.Port
    ) {
        let port = radio.addController()
        let adapter = try await radio.passing {
            let adapter = try await Adapter.open(port)
            if let name { try await adapter.advertise(AdvertisementData(name: name, services: services)) }
            return adapter
        }
        return (adapter, port)
    }

    @Test("Advertisement and scan response are reported as one sighting")
    func merged() async throws {
        let service: BluetoothUUID = "E07F0AE8-00BB-47F5-94F4-4A7174EA3032"
        let (peripheral, port) = try await open("A name of some length", [service])
        let (central, _) = try await open()
        let sightings = central.scan(
            for: ScanFilter(services: [service], name: .exact("A name of some length")))
        let sighting = try #require(try await radio.passing { try await sightings.first() })
        #expect(sighting.name == "A name of some length")
        #expect(sighting.serviceUUIDs == [service])
        #expect(!sighting.scanResponseData.isEmpty)
        #expect(sighting.isConnectable)
        #expect(sighting.address == (peripheral.information?.address))
        #expect(sighting.rssi == -50)
        _ = port
    }

    @Test("A passive scan sees no scan response")
    func passive() async throws {
        let service: BluetoothUUID = "E07F0AE8-00BB-47F5-94F4-4A7174EA3032"
        let (peripheral, _) = try await open("A name of some length", [service])
        let (central, _) = try await open()
        let sightings = central.scan(
            parameters: ScanParameters(isActive: false, reportsDuplicates: false))
        let sighting = try #require(try await radio.passing { try await sightings.first() })
        #expect(sighting.name == nil)
        #expect(sighting.serviceUUIDs == [service])
        await peripheral.close()
    }

    @Test("A device is reported once, or with each of its advertisements", arguments: [false, true])
    func duplicates(_ reportsDuplicates: Bool) async throws {
        let (peripheral, _) = try await open("Once")
        let (central, _) = try await open()
        let sightings = central.scan(
            parameters: ScanParameters(isActive: false, reportsDuplicates: reportsDuplicates))
        await radio.advance(by: .seconds(1))
        await central.close()
        var count = 0
        var iterator = sightings.makeAsyncIterator()
        await #expect(throws: BluetoothError.adapterClosed) { while try await iterator.next() != nil { count += 1 } }
        #expect(reportsDuplicates ? count > 5 : count == 1)
        await peripheral.close()
    }

    @Test("A device that comes closer passes a filter on signal strength later")
    func strength() async throws {
        let (peripheral, port) = try await open("Near")
        let (central, scanner) = try await open()
        radio.setPathLoss(between: port, and: scanner, to: 80)
        let near = central.scan(for: ScanFilter(rssi: -60...0))
        let any = central.scan()
        #expect(try await radio.passing { try await any.first() }?.rssi == -80)
        await radio.advance(by: .seconds(1))
        radio.setPathLoss(between: port, and: scanner, to: 55)
        let sighting = try await radio.passing { try await near.first() }
        #expect(sighting?.rssi == -55)
        await peripheral.close()
    }

    @Test("Several scans run at once, each with its own filter and parameters")
    func several() async throws {
        let (first, _) = try await open("First")
        let (second, _) = try await open("Second")
        let (central, port) = try await open()
        let passive = central.scan(
            for: ScanFilter(name: .exact("First")),
            parameters: ScanParameters(isActive: false, reportsDuplicates: false))
        let active = central.scan(for: ScanFilter(name: .prefix("Sec")))
        #expect(try await radio.passing { try await passive.first() }?.name == "First")
        #expect(try await radio.passing { try await active.first() }?.name == "Second")
        #expect(radio.withAir { air, _ in air[port.identifier].isScanning })
        await first.close()
        await second.close()
    }

    @Test("Scanning stops when the last sequence is released, and restarts with the next")
    func ended() async throws {
        let (central, port) = try await open()
        func isScanning() -> Bool { radio.withAir { air, _ in air[port.identifier].isScanning } }
        for _ in 0..<3 {
            var first: EventSequence<Sighting>? = central.scan()
            var second: EventSequence<Sighting>? = central.scan()
            await until { isScanning() }
            first = nil
            await until { central.scanCount == 1 }
            #expect(isScanning())
            second = nil
            await until { !isScanning() }
            _ = (first, second)
        }
    }

    @Test("Parameters outside the specification are rejected, even while another scan is running")
    func invalid() async throws {
        let (central, _) = try await open()
        let bad = ScanParameters(interval: .milliseconds(10), window: .milliseconds(20))
        await #expect(throws: BluetoothError.invalidParameters) { _ = try await central.scan(parameters: bad).first() }
        let good = central.scan()
        await #expect(throws: BluetoothError.invalidParameters) { _ = try await central.scan(parameters: bad).first() }
        let (peripheral, _) = try await open("Still")
        #expect(try await radio.passing { try await good.first() }?.name != "")
        await peripheral.close()
    }

    @Test("A scan continues after a controller reset")
    func reset() async throws {
        let (central, port) = try await open()
        let sightings = central.scan(for: ScanFilter(name: .exact("Later")))
        radio.withAir { air, _ in air.reportHardwareError(1, on: port.identifier) }
        let (peripheral, _) = try await open("Later")
        #expect(try await radio.passing { try await sightings.first() }?.name == "Later")
        await peripheral.close()
    }
}
