import BluetoothLE
import CoreBluetooth
import Testing
import VirtualRadio

@Suite("G: adding and removing services", .timeLimit(.minutes(30)))
struct AddingTests {
    @Test("Row 64: each added service is reported once, in order, including rejected ones")
    func order() async throws {
        let scene = await PeripheralScene()
        let bad = CBMutableCharacteristic("F00B", .read)
        bad.descriptors = [CBMutableDescriptor(type: CBUUID(string: "2902"), value: Data([0, 0]))]
        scene.manager.add(CBMutableService("AAA0", [CBMutableCharacteristic("F00A", .read)]))
        scene.manager.add(CBMutableService("BBB0", [bad]))
        scene.manager.add(CBMutableService("CCC0"))
        await scene.recorder.expect("added AAA0 -", "added BBB0 CB 1", "added CCC0 -")
        let central = try await scene.central()
        #expect(try await central.discoverServices().map(\.uuid).suffix(2) == ["AAA0", "CCC0"])
        #expect(scene.recorder.strays == [])
    }

    @Test("Row 64: an included service must be added first")
    func included() async throws {
        let scene = await PeripheralScene()
        let inner = CBMutableService(type: CBUUID(string: "AAA0"), primary: false)
        let outer = CBMutableService("BBB0")
        outer.includedServices = [inner]
        scene.manager.add(outer)
        await scene.recorder.expect("added BBB0 CB 1")
        await scene.add(inner)
        await scene.add(outer)
        let central = try await scene.central()
        let services = try await central.discoverServices()
        let found = try #require(services.first { $0.uuid == "BBB0" })
        #expect(!services.contains { $0.uuid == "AAA0" })
        #expect(try await central.discoverIncludedServices(of: found).map(\.uuid) == ["AAA0"])
    }

    @Test("Row 64: later changes to the objects do not change the published service")
    func frozen() async throws {
        let scene = await PeripheralScene()
        let characteristic = CBMutableCharacteristic("F001", .read, value: Data([1]))
        let service = CBMutableService("AAA0", [characteristic])
        await scene.add(service)
        characteristic.value = Data([2])
        characteristic.properties = [.read, .write]
        service.characteristics = [CBMutableCharacteristic("F002", .read)]
        let central = try await scene.central()
        let found = try #require(try await central.discoverServices("AAA0").first)
        let characteristics = try await central.discoverCharacteristics(of: found)
        #expect(characteristics.map(\.uuid) == ["F001"] && characteristics[0].properties == .read)
        #expect(try await central.read(characteristics[0]) == [1])
    }

    @Test("Row 64: adding a service twice is a programming error")
    func twice() async {
        await #expect(processExitsWith: .failure) {
            let scene = await PeripheralScene()
            let service = CBMutableService("AAA0")
            await scene.add(service)
            scene.manager.add(service)
        }
    }

    @Test(
        "Row 65: a static value of any length is read without the delegate", arguments: [23, 517] as [UInt16])
    func constant(_ mtu: UInt16) async throws {
        let value = Data((0..<512).map { UInt8(truncatingIfNeeded: $0) })
        let scene = await PeripheralScene(CBMutableCharacteristic("F001", .read, value: value))
        let central = try await scene.central(mtu: mtu)
        let before = scene.recorder.all
        #expect(try await central.read(first: "F001") == [UInt8](value))
        #expect(await scene.recorder.onQueue { scene.recorder.all } == before)
    }

    @Test("Row 65: a static value that can be written is a programming error")
    func writableConstant() async {
        await #expect(processExitsWith: .failure) {
            let scene = await PeripheralScene()
            scene.manager.add(
                CBMutableService("AAA0", [CBMutableCharacteristic("F001", [.read, .write], value: Data([1]))]))
        }
        await #expect(processExitsWith: .failure) {
            let scene = await PeripheralScene()
            let characteristic = CBMutableCharacteristic(
                type: CBUUID(string: "F001"), properties: .read, value: Data([1]), permissions: [.readable, .writeable])
            scene.manager.add(CBMutableService("AAA0", [characteristic]))
        }
    }

    @Test("Row 65: a static value longer than 512 octets is rejected, and its service is not published")
    func tooLong() async throws {
        let scene = await PeripheralScene()
        let characteristic = CBMutableCharacteristic("F001", .read, value: Data(count: 513))
        scene.manager.add(CBMutableService("AAA0", [characteristic]))
        await scene.recorder.expect("added AAA0 CB 1")
        #expect(try await scene.central().discoverServices("AAA0").isEmpty)
    }

    @Test("Row 66: descriptors that the stack creates itself are rejected", arguments: ["2900", "2902", "2903"])
    func reservedDescriptor(_ uuid: String) async {
        let scene = await PeripheralScene()
        let characteristic = CBMutableCharacteristic("F001", [.read, .notify])
        characteristic.descriptors = [CBMutableDescriptor(type: CBUUID(string: uuid), value: Data([0, 0]))]
        scene.manager.add(CBMutableService("AAA0", [characteristic]))
        await scene.recorder.expect("added AAA0 CB 1")
    }

    @Test("Row 66: all other descriptors are published, and read without the delegate")
    func descriptors() async throws {
        let characteristic = CBMutableCharacteristic("F001", [.read, .notify, .indicate])
        let format = Data([4, 0, 0xAD, 0x27, 1, 0, 0])
        characteristic.descriptors = [
            CBMutableDescriptor(type: CBUUID(string: "2901"), value: "Größe"),
            CBMutableDescriptor(type: CBUUID(string: "2904"), value: format),
            CBMutableDescriptor(type: CBUUID(string: "2908"), value: Data([1, 2])),
        ]
        let scene = await PeripheralScene(characteristic)
        let central = try await scene.central()
        let descriptors = try await central.discoverDescriptors(of: try await central.characteristic("F001"))
        var values: [BluetoothUUID: [UInt8]] = [:]
        for descriptor in descriptors { values[descriptor.uuid] = try await central.read(descriptor) }
        #expect(
            values == ["2901": [UInt8]("Größe".utf8), "2904": [UInt8](format), "2908": [1, 2], "2902": [0, 0]])
        #expect(!scene.recorder.all.contains { $0.hasPrefix("read") })
    }

    @Test("Row 66: a User Description that is not a String, or a Format that is not Data, is a programming error")
    func descriptorValue() async {
        await #expect(processExitsWith: .failure) {
            _ = CBMutableDescriptor(type: CBUUID(string: "2901"), value: Data([1]))
        }
        await #expect(processExitsWith: .failure) {
            _ = CBMutableDescriptor(type: CBUUID(string: "2904"), value: "text")
        }
    }

    @Test(
        "Row 67: only the stack's own services are rejected",
        arguments: [
            ("1800", "CB 8"), ("1801", "CB 8"), ("1805", "-"), ("180A", "-"), ("180F", "-"), ("1812", "-"),
            ("181E", "-"),
        ])
    func ownedByTheStack(_ uuid: String, _ result: String) async {
        let scene = await PeripheralScene()
        scene.manager.add(CBMutableService(uuid))
        await scene.recorder.expect("added \(uuid) \(result)")
    }

    @Test("Row 76: a manager removes only its own services, and may add them again")
    func removing() async throws {
        let scene = await PeripheralScene()
        let others = PeripheralRecorder(Recorder("other"))
        let other = scene.stage.with(scene.port) {
            CBPeripheralManager(delegate: others, queue: others.recorder.queue)
        }
        await others.recorder.expect("state poweredOn")
        let first = CBMutableService("AAA0", [CBMutableCharacteristic("F001", .read)])
        let second = CBMutableService("BBB0", [CBMutableCharacteristic("F002", .read)])
        await scene.add(first)
        await scene.add(second)
        other.add(CBMutableService("CCC0", [CBMutableCharacteristic("F003", .read, value: Data([3]))]))
        await others.recorder.expect("added CCC0 -")
        let central = try await scene.central()
        scene.manager.remove(first)
        other.remove(second)
        await scene.add(CBMutableService("DDD0"))
        #expect(try await central.published == ["BBB0", "CCC0", "DDD0"])
        scene.delegate.answer = { manager, requests in
            requests[0].value = Data([7])
            manager.respond(to: requests[0], withResult: .success)
        }
        #expect(try await central.read(first: "F002") == [7])
        await scene.recorder.expect("read F002 0")
        await scene.add(first)
        #expect(try await central.read(first: "F001") == [7])
        await scene.recorder.expect("read F001 0")
        scene.manager.removeAllServices()
        scene.manager.removeAllServices()
        await scene.add(second)
        #expect(try await central.published == ["BBB0", "CCC0"])
        #expect(try await central.read(first: "F003") == [3])
    }

    @Test("Row 76: a connected central that subscribed to Service Changed is notified")
    func serviceChanged() async throws {
        let service = CBMutableService("AAA0", [CBMutableCharacteristic("F001", .read)])
        let scene = await PeripheralScene()
        await scene.add(service)
        let central = try await scene.central()
        let handles = try #require(try await central.discoverServices("AAA0").first)
        let changes = try await central.notifications(of: try await central.characteristic(.serviceChanged))
        scene.manager.remove(service)
        var iterator = changes.makeAsyncIterator()
        let change = try #require(try await iterator.next())
        let first = UInt16(change[0]) | UInt16(change[1]) << 8, last = UInt16(change[2]) | UInt16(change[3]) << 8
        #expect(first <= handles.startHandle.rawValue && handles.endHandle.rawValue <= last)
    }

    @Test("Row 76: a service removed before it was published is gone, and its object is released")
    func removedAtOnce() async throws {
        let scene = await PeripheralScene()
        weak var gone: CBMutableService?
        weak var goneCharacteristic: CBMutableCharacteristic?
        do {
            let characteristic = CBMutableCharacteristic("F001", .read)
            let service = CBMutableService("AAA0", [characteristic])
            (gone, goneCharacteristic) = (service, characteristic)
            scene.manager.add(service)
            scene.manager.remove(service)
        }
        await scene.recorder.expect("added AAA0 -")
        await scene.add(CBMutableService("BBB0"))
        #expect(try await scene.central().published == ["BBB0"])
        await until("nobody keeps it") { gone == nil && goneCharacteristic == nil }
    }
}

extension Connection {
    /// The services that are not the stack's.
    fileprivate var published: [BluetoothUUID] {
        get async throws {
            try await discoverServices().map(\.uuid).filter { $0 != .genericAccess && $0 != .genericAttribute }
                .sorted { "\($0)" < "\($1)" }
        }
    }
}
