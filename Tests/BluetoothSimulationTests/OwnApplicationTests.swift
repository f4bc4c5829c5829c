import BluetoothBase
import BluetoothGATT
import BluetoothLE
import Synchronization
import Testing

import BluetoothSimulation

/// An application of one's own in many worlds: a thermometer that counts its readings, and a phone that takes them for
/// as long as it can. What it shows must never go back, whatever the weather does to the link.
@Suite("A custom application")
struct OwnApplicationTests {
    private static let service: BluetoothUUID = "1809"
    private static let characteristic: BluetoothUUID = "2A1E"

    private static func serve(_ station: Station) async {
        guard let adapter = try? await Adapter.open(station, options: .init(seed: 1)) else { return }
        let definition = GATTServiceDefinition(
            uuid: service, characteristics: [.init(uuid: characteristic, properties: .notify)])
        guard let reading = try? await adapter.publish(definition)[characteristic] else { return }
        var advertisement = AdvertisementData()
        advertisement.serviceUUIDs = [service]
        try? await adapter.advertise(advertisement)
        let clock = station.world.clock
        for number in UInt8(0)... {
            for subscriber in reading.subscribers { try? await subscriber.notify([number]) }
            do { try await clock.sleep(for: .milliseconds(250)) } catch { break }
        }
        await adapter.close()
    }

    /// Returns the readings, in their order.
    private static func watch(_ station: Station, _ show: (UInt8) -> Void) async {
        guard let adapter = try? await Adapter.open(station, options: .init(seed: 2)) else { return }
        while !Task.isCancelled {
            do throws(BluetoothError) {
                let sighting = try await adapter.firstSighting(for: ScanFilter(services: [service]))
                let connection = try await adapter.connect(to: sighting.address, timeout: .seconds(5))
                let found = try await connection.characteristic(characteristic, in: service)
                var values = try await connection.notifications(of: found).makeAsyncIterator()
                while let value = try await values.next() { show(value[0]) }
            } catch {
                // The weather: it tries again, a moment later.
                try? await station.world.clock.sleep(for: .milliseconds(500))
            }
        }
        await adapter.close()
    }

    @Test("Readings never go back, whatever the weather", arguments: [ScenarioKind.links, .controllers])
    func thermometer(_ weather: ScenarioKind) throws {
        let total = Mutex(0)
        let failures = World.play(seeds: 0..<20, for: .seconds(60), weather: weather) { world in
            let sensor = world.addStation(), phone = world.addStation()
            let last = Mutex<UInt8?>(nil)
            world.spawn { await Self.serve(sensor) }
            world.spawn {
                await Self.watch(phone) { reading in
                    let before = last.withLock { last in
                        defer { last = reading }
                        return last
                    }
                    total.withLock { $0 += 1 }
                    if let before, reading <= before {
                        world.fail(.application, "reading \(reading) after reading \(before)")
                    }
                }
            }
        }
        #expect(failures.isEmpty, "\(failures)")
        #expect(total.withLock { $0 } > 1_000)
    }

    @Test("An error that the application reports fails its world, and the same seed reproduces it")
    func failing() {
        func play(_ seeds: Range<UInt64>) -> [UInt64] {
            World.play(seeds: seeds, for: .seconds(10), weather: nil) { world in
                world.schedule(at: .zero.advanced(by: .seconds(1))) {
                    if world.seed % 3 == 0 { world.fail(.application, "a seed that three divides") }
                }
            }.map(\.seed)
        }
        #expect(play(0..<10) == [0, 3, 6, 9])
        #expect(play(6..<7) == [6])
    }
}
