import BluetoothLE
import CoreBluetooth
import Testing
import VirtualRadio

@Suite("Applications that fall behind", .timeLimit(.minutes(30)))
struct SlowConsumerTests {
    @Test("A queue suspended for a minute delays no other link, and loses nothing")
    func suspended() async throws {
        let scene = try await CentralScene(time: .manual)
        let radio = scene.stage.radio
        let (peripheral, characteristics) = try await scene.stage.passing { try await scene.discovered() }
        let notified = try #require(characteristics[CentralScene.notified])
        peripheral.setNotifyValue(true, for: notified)
        await scene.stage.passing { await scene.recorder.expect("notifying F003 true -") }
        // Another manager of the adapter, with a link of its own to another peripheral.
        let others = CentralRecorder(Recorder("other"))
        let other = scene.stage.with(scene.near) {
            CBCentralManager(delegate: others, queue: others.recorder.queue)
        }
        let second = try await scene.stage.passing {
            let adapter = try await Adapter.open(radio.addController())
            var advertisement = AdvertisementData()
            advertisement.serviceUUIDs = ["180D"]
            _ = try await adapter.publish(
                .init(uuid: "180D", characteristics: [.init(uuid: "2A37", properties: .read, value: .constant([7]))]))
            try await adapter.advertise(advertisement)
            await others.recorder.expect("state poweredOn")
            other.scanForPeripherals(withServices: [CBUUID(string: "180D")])
            await others.recorder.skip(to: "discovered")
            return adapter
        }
        other.stopScan()
        let found = try #require(await others.recorder.onQueue { others.peripherals.first })
        other.connect(found)
        await scene.stage.passing { _ = await others.recorder.skip(to: "connected") }
        found.discoverServices(nil)
        await scene.stage.passing { _ = await others.recorder.skip(to: "services -") }
        found.discoverCharacteristics(nil, for: try #require(found.services?.first))
        await scene.stage.passing { _ = await others.recorder.skip(to: "characteristics") }
        let rate = try #require(found.services?.first?.characteristics?.first)

        scene.recorder.queue.suspend()
        let subscriber = try #require(
            try await scene.stage.passing { try scene.local(CentralScene.notified).subscribers.first })
        let sending = Task { for number in 0..<1000 { try await subscriber.notify([UInt8(number & 0xFF)]) } }
        let end = radio.withAir { _, now in now }.advanced(by: .seconds(60))
        // How much time passes meanwhile depends on how fast the other queue's thread is.
        func askOften() async {
            for _ in 0..<50 {
                found.readValue(for: rate)
                await others.recorder.expect("value 2A37 07 -")
                found.readRSSI()
                await others.recorder.expect("rssi -")
            }
        }
        try await scene.stage.passing {
            await askOften()
            try await sending.value
        }
        let now = radio.withAir { _, now in now }
        if now < end { await radio.advance(by: now.duration(to: end)) }
        await scene.stage.passing { await askOften() }
        #expect(!scene.recorder.all.contains { $0.hasPrefix("value") })
        scene.recorder.queue.resume()
        for number in 0..<1000 {
            await scene.recorder.expect("value F003 \(Data([UInt8(number & 0xFF)]).hex) -")
        }
        await second.close()
    }

    @Test("A delegate that blocks its queue until it can write blocks only itself, and all writes are sent")
    func blocking() async throws {
        let scene = try await CentralScene()
        let (peripheral, characteristics) = try await scene.discovered()
        let stored = try #require(characteristics[CentralScene.stored])
        let events = try scene.local(CentralScene.stored).events
        let arrivals = Arrivals()
        let received = Task {
            var count = 0
            for try await case .written in events {
                count += 1
                arrivals.add()
                if count == 500 { break }
            }
            return count
        }
        await scene.recorder.onQueue {
            for number in 0..<500 {
                guard arrivals.retry(after: number, { peripheral.canSendWriteWithoutResponse }) else {
                    Issue.record("there is no room for write \(number) though all before it have arrived")
                    break
                }
                peripheral.writeValue(Data([UInt8(number & 0xFF)]), for: stored, type: .withoutResponse)
            }
        }
        #expect(try await received.value == 500)
    }
}
