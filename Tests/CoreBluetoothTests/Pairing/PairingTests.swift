import AdapterTestSupport
import BluetoothLE
import CoreBluetooth
import Testing
import VirtualRadio

@Suite("H: values that require encryption", .timeLimit(.minutes(30)))
struct PairingTests {
    private static let value = CBUUID(string: "F301")

    /// A central manager that has discovered a value of the peripheral that needs encryption.
    private func scene() async throws -> (CentralScene, CBPeripheral, CBCharacteristic) {
        let scene = try await CentralScene()
        _ = try await scene.peripheral.publish(
            GATTServiceDefinition(
                uuid: "F300",
                characteristics: [
                    .init(
                        uuid: "F301", properties: .read, permissions: GATTPermissions(read: .encrypted),
                        value: .variableLength([7]))
                ]))
        let peripheral = try await scene.connected()
        peripheral.discoverServices([CBUUID(string: "F300")])
        await scene.recorder.skip(to: "services -")
        let service = try #require(peripheral.services?.first)
        peripheral.discoverCharacteristics(nil, for: service)
        await scene.recorder.skip(to: "characteristics")
        return (scene, peripheral, try #require(service.characteristics?.first))
    }

    @Test("Row 62: reading a value that requires encryption pairs, then returns the value")
    func central() async throws {
        let (scene, peripheral, characteristic) = try await scene()
        try await scene.peripheral.withPairingAgent(Consenting()) {
            peripheral.readValue(for: characteristic)
            await scene.recorder.expect("value F301 07 -")
        }
        #expect(try await scene.peripheral.bonds.count == 1)
    }

    @Test("Row 62: if pairing fails, the application receives the error of its request")
    func refused() async throws {
        let (scene, peripheral, characteristic) = try await scene()
        try await scene.peripheral.withPairingAgent(Consenting(isAllowed: false)) {
            peripheral.readValue(for: characteristic)
            await scene.recorder.expect("value F301 nil ATT 5")
        }
        #expect(peripheral.state == .connected)
    }

    @Test("Row 57: values of a subscription that only the peripheral remembers are not reported")
    func restoredSubscription() async throws {
        let (scene, peripheral, secret) = try await scene()
        let local = try scene.local(CentralScene.notified)
        var told = local.events.makeAsyncIterator()
        try await scene.peripheral.withPairingAgent(Consenting()) {
            peripheral.readValue(for: secret)
            await scene.recorder.expect("value F301 07 -")
        }
        let characteristic = try #require(try await scene.discover(peripheral)[CentralScene.notified])
        peripheral.setNotifyValue(true, for: characteristic)
        await scene.recorder.expect("notifying F003 true -")
        scene.manager.cancelPeripheralConnection(peripheral)
        await scene.recorder.skip(to: "disconnected")
        #expect(!characteristic.isNotifying)
        scene.manager.connect(peripheral)
        await scene.recorder.skip(to: "connected")
        let again = try await scene.discover(peripheral)
        while let event = try await told.next() {
            guard case .subscriptionRestored(let subscriber) = event else { continue }
            try await subscriber.notify([1])
            break
        }
        // What comes after it is told.
        peripheral.readValue(for: try #require(again[CentralScene.stored]))
        await scene.recorder.expect("value F001 010203 -")
        let notified = try #require(again[CentralScene.notified])
        #expect(notified.value == nil && !notified.isNotifying)
    }

    @Test(
        "Row 78: a central must pair before it can read a value that requires encryption")
    func peripheral() async throws {
        let characteristic = CBMutableCharacteristic(
            type: Self.value, properties: .read, value: Data([7]), permissions: .readEncryptionRequired)
        let scene = await PeripheralScene(characteristic)
        let central = try await scene.central()
        let remote = try await central.characteristic("F301")
        await #expect(
            throws: BluetoothError.att(
                ATTError(.insufficientAuthentication, for: .readRequest, at: remote.valueHandle))
        ) {
            _ = try await central.read(remote)
        }
        try await central.pair()
        #expect(try await central.read(remote) == [7])
    }

    @Test("Row 78: pairing fails if the central offers less security than the environment requires")
    func requirement() async throws {
        let characteristic = CBMutableCharacteristic(
            type: Self.value, properties: .read, value: Data([7]), permissions: .readEncryptionRequired)
        var pairing = BluetoothPairing()
        pairing.requirement = SecurityRequirement(requiresAuthentication: true)
        let scene = await PeripheralScene(characteristic, pairing: pairing)
        let central = try await scene.central()
        await #expect(throws: BluetoothError.pairingFailed(.peer(.authenticationRequirements))) {
            try await central.pair()
        }
    }

    @Test("Row 78: pairing is rejected if the application publishes no value that requires it")
    func unexpected() async throws {
        let scene = await PeripheralScene(CBMutableCharacteristic("F001", .read, value: Data([1])))
        let central = try await scene.central()
        await #expect(throws: BluetoothError.pairingFailed(.peer(.pairingNotSupported))) { try await central.pair() }
        #expect(try await central.read(first: "F001") == [1])
    }
}
