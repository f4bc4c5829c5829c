import BluetoothLE
import CoreBluetooth
import Testing
import VirtualRadio

@Suite("G: subscriptions", .timeLimit(.minutes(30)))
struct SubscriptionTests {
    @Test("Row 69: centrals that only connect and disconnect are not reported")
    func silentCentrals() async throws {
        let scene = await PeripheralScene(CBMutableCharacteristic("F001", .notify, value: nil))
        for _ in 0..<3 {
            let central = try await scene.central()
            _ = try await central.discoverAll()
            try await central.disconnect()
        }
        let central = try await scene.central()
        _ = try await central.notifications(of: try await central.characteristic("F001"))
        await scene.recorder.expect("subscribed F001")
    }

    @Test(
        "Row 73: subscribedCentrals is current when the delegate is called",
        arguments: [[.notify], [.indicate], [.notify, .indicate]] as [CBCharacteristicProperties])
    func subscribedCentrals(_ properties: CBCharacteristicProperties) async throws {
        /// Tells what the characteristic says while its delegate is told.
        final class Delegate: NSObject, CBPeripheralManagerDelegate {
            let told = Recorder()

            func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {}

            func peripheralManager(
                _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic
            ) {
                add("+", central, characteristic)
            }

            func peripheralManager(
                _ peripheral: CBPeripheralManager, central: CBCentral,
                didUnsubscribeFrom characteristic: CBCharacteristic
            ) {
                add("-", central, characteristic)
            }

            private func add(_ sign: String, _ central: CBCentral, _ characteristic: CBCharacteristic) {
                let subscribed = (characteristic as? CBMutableCharacteristic)?.subscribedCentrals
                told.add("\(sign) \(subscribed?.contains(central) ?? false) \(subscribed?.count ?? -1)")
            }
        }
        let characteristic = CBMutableCharacteristic("F001", properties)
        #expect(characteristic.subscribedCentrals == [])
        let scene = await PeripheralScene(characteristic)
        let (first, second) = (try await scene.central(), try await scene.central())
        let delegate = Delegate()
        scene.manager.delegate = delegate
        let firstValues = try await first.notifications(of: try await first.characteristic("F001"))
        await delegate.told.expect("+ true 1")
        let secondValues = try await second.notifications(of: try await second.characteristic("F001"))
        await delegate.told.expect("+ true 2")
        try await first.unsubscribe(from: try await first.characteristic("F001"))
        await delegate.told.expect("- false 1")
        try await second.disconnect()
        await delegate.told.expect("- false 0")
        #expect(characteristic.subscribedCentrals == [])
        withExtendedLifetime((firstValues, secondValues)) {}
    }

    @Test("Row 73: subscriptions that begin and end while there is no delegate are noted")
    func withoutDelegate() async throws {
        let characteristic = CBMutableCharacteristic("F001", .notify)
        let scene = await PeripheralScene(characteristic)
        let (first, second) = (try await scene.central(), try await scene.central())
        let firstValues = try await first.notifications(of: try await first.characteristic("F001"))
        await scene.recorder.expect("subscribed F001")
        let early = try #require(characteristic.subscribedCentrals?.first)
        scene.manager.delegate = nil
        let secondValues = try await second.notifications(of: try await second.characteristic("F001"))
        try await first.disconnect()
        await until("only the second central is subscribed") {
            characteristic.subscribedCentrals?.count == 1 && characteristic.subscribedCentrals?.first != early
        }
        scene.manager.delegate = scene.delegate
        #expect(scene.manager.updateValue(Data([1]), for: characteristic, onSubscribedCentrals: nil))
        #expect(try await secondValues.next(1) == [[1]])
        withExtendedLifetime(firstValues) {}
    }

    @Test("Row 73: switching between notifications and indications ends one subscription and begins another")
    func changed() async throws {
        let characteristic = CBMutableCharacteristic("F001", [.notify, .indicate])
        let scene = await PeripheralScene(characteristic)
        let central = try await scene.central()
        let remote = try await central.characteristic("F001")
        let descriptor = try #require(
            try await central.discoverDescriptors(of: remote).first { $0.uuid == .clientCharacteristicConfiguration })
        try await central.write([2, 0], to: descriptor.handle)
        await scene.recorder.expect("subscribed F001")
        for value in [1, 3, 2] as [UInt8] {
            try await central.write([value, 0], to: descriptor.handle)
            await scene.recorder.expect("unsubscribed F001")
            await scene.recorder.expect("subscribed F001")
        }
        // What is there already is no change.
        try await central.write([2, 0], to: descriptor.handle)
        try await central.write([0, 0], to: descriptor.handle)
        await scene.recorder.expect("unsubscribed F001")
        #expect(characteristic.subscribedCentrals == [])
    }

    @Test("Row 73: a central is one object with one identifier, across connections")
    func identity() async throws {
        let scene = await PeripheralScene(CBMutableCharacteristic("F001", .notify))
        let adapter = try await Adapter.open(scene.stage.radio.addController())
        scene.manager.startAdvertising(nil)
        await scene.recorder.expect("advertising true -")
        for _ in 0..<2 {
            let central = try await adapter.connect(to: PeripheralScene.address)
            let values = try await central.notifications(of: try await central.characteristic("F001"))
            await scene.recorder.expect("subscribed F001")
            try await central.disconnect()
            await scene.recorder.expect("unsubscribed F001")
            withExtendedLifetime(values) {}
        }
        let centrals = await scene.recorder.onQueue { scene.delegate.centrals }
        #expect(centrals.count == 1)
        let central = try await scene.central()
        _ = try await central.notifications(of: try await central.characteristic("F001"))
        await scene.recorder.expect("subscribed F001")
        let both = await scene.recorder.onQueue { scene.delegate.centrals }
        #expect(both.count == 2 && both[0] === centrals[0] && both[0].identifier != both[1].identifier)
    }

    @Test("Rows 69, 73: a disconnection ends all subscriptions of that central, and no others")
    func disconnected() async throws {
        let characteristics = ["F001", "F002", "F003"].map { CBMutableCharacteristic($0, .notify) }
        let scene = await PeripheralScene(characteristics[0], characteristics[1], characteristics[2])
        let (first, second) = (try await scene.central(), try await scene.central())
        var values: [EventSequence<[UInt8]>] = []
        for (central, uuid) in [(first, "F001"), (first, "F002"), (second, "F002"), (second, "F003")] {
            let uuid = BluetoothUUID(uuid)!
            values.append(try await central.notifications(of: try await central.characteristic(uuid)))
            await scene.recorder.expect("subscribed \(uuid)")
        }
        #expect(characteristics.map { $0.subscribedCentrals?.count } == [1, 2, 1])
        try await first.disconnect()
        let lines = [await scene.recorder.next(), await scene.recorder.next()]
        #expect(lines.sorted() == ["unsubscribed F001", "unsubscribed F002"])
        #expect(characteristics.map { $0.subscribedCentrals?.count } == [0, 1, 1])
        // The one that is left still gets its values.
        #expect(scene.manager.updateValue(Data([5]), for: characteristics[1], onSubscribedCentrals: nil))
        #expect(try await values[2].next(1) == [[5]])
    }

    @Test("Row 73: a removed service has no subscribers, and reports nothing more")
    func removed() async throws {
        let characteristic = CBMutableCharacteristic("F001", .notify)
        let service = CBMutableService("AAA0", [characteristic])
        let scene = await PeripheralScene(CBMutableCharacteristic("F002", .read))
        await scene.add(service)
        let central = try await scene.central()
        let values = try await central.notifications(of: try await central.characteristic("F001"))
        await scene.recorder.expect("subscribed F001")
        scene.manager.remove(service)
        #expect(characteristic.subscribedCentrals == [])
        #expect(scene.manager.updateValue(Data([1]), for: characteristic, onSubscribedCentrals: nil))
        await scene.add(service)
        let reading = Task { try await central.read(first: "F002") }
        await scene.recorder.expect("read F002 0")
        #expect(characteristic.subscribedCentrals == [])
        try await central.disconnect()
        _ = try? await reading.value
        withExtendedLifetime(values) {}
    }

    @Test("Row 77: a connection latency is requested from a connected central")
    func latency() async throws {
        let scene = await PeripheralScene(CBMutableCharacteristic("F001", .notify))
        let link = try await scene.central()
        let values = try await link.notifications(of: try await link.characteristic("F001"))
        await scene.recorder.expect("subscribed F001")
        let central = try #require(await scene.recorder.onQueue { scene.delegate.centrals.first })
        scene.manager.setDesiredConnectionLatency(.medium, for: central)
        await until("the interval is longer") {
            (.milliseconds(60)...(.milliseconds(120))).contains(link.parameters.interval)
        }
        // While one is still to be answered the last is what counts.
        for latency in [CBPeripheralManagerConnectionLatency.high, .medium, .low] {
            scene.manager.setDesiredConnectionLatency(latency, for: central)
        }
        await until("the interval is shorter") {
            (.milliseconds(15)...(.milliseconds(30))).contains(link.parameters.interval)
        }
        try await link.disconnect()
        await scene.recorder.expect("unsubscribed F001")
        scene.manager.setDesiredConnectionLatency(.high, for: central)
        withExtendedLifetime(values) {}
    }
}
