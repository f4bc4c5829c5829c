import CoreBluetooth
import CoreBluetoothTesting
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(30)), .radioCapture)
struct ResponseTests {
    private let air = TestRadio(time: .manual)
    private let sensor = VirtualPeripheral(
        name: "Sensor",
        services: [
            VirtualService(
                "180D", includedServices: ["180F"],
                characteristics: [
                    VirtualCharacteristic("F001", [.read, .write, .writeWithoutResponse], value: Data([1, 2, 3])),
                    VirtualCharacteristic("F002", .notify),
                ]), VirtualService("180F"),
        ])

    private func ready() async throws -> Phone {
        try await air.add(sensor)
        let app = air.app { Phone() }
        try await air.wait { app.has("descriptors of F002 -") }
        await air.settle()
        return app
    }

    @Test func `a connection can be refused, and accepted later`() async throws {
        try await air.add(sensor)
        sensor.simulateConnectionRefusal()
        let app = air.app { Phone() }
        try await air.wait { app.has("failed CB 10") }
        sensor.simulateConnectionRefusal(false)
        app.connect(try #require(app.peripheral))
        try await air.wait { app.has("connected") }
    }

    @Test(arguments: [
        (VirtualRequest.Kind.discoverServices, "services ATT 17"),
        (.discoverIncludedServices, "included ATT 17"), (.discoverCharacteristics, "characteristics ATT 17"),
        (.discoverDescriptors, "descriptors of F002 ATT 17"),
    ])
    func `a discovery can be refused`(kind: VirtualRequest.Kind, line: String) async throws {
        sensor.respond(to: kind, with: .error(.insufficientResources))
        try await air.add(sensor)
        let app = air.app { Phone() }
        try await air.wait { app.has(line) }
    }

    @Test(arguments: [CBATTError.Code.insufficientResources, .unlikelyError, ._other(0x80), ._other(0xFD)])
    func `a request can be refused with any error`(code: CBATTError.Code) async throws {
        let app = try await ready()
        sensor.respond(to: .read, of: "F001", with: .error(code))
        sensor.respond(to: .write, of: "F001", with: .error(code))
        sensor.respond(to: .subscribe, of: "F002", with: .error(code))
        app.read("F001")
        app.write(Data([9]), "F001")
        app.subscribe("F002")
        await air.settle()
        #expect(app.has("F001 is [] ATT \(code.rawValue)"))
        #expect(app.has("F001 written ATT \(code.rawValue)"))
        #expect(app.has("F002 notifies false ATT \(code.rawValue)"))
        #expect(try await sensor.value(of: "F001") == Data([1, 2, 3]))
        sensor.respondNormally()
        app.read("F001")
        app.subscribe("F002")
        await air.settle()
        #expect(app.has("F001 is [1, 2, 3] -") && app.has("F002 notifies true -"))
    }

    @Test func `a single request can be refused`() async throws {
        let app = try await ready()
        sensor.respond(to: .read, of: "F001", with: .error(.unlikelyError), times: 1, skipping: 1)
        for _ in 0..<3 { app.read("F001") }
        await air.settle()
        #expect(
            app.lines.filter { $0.hasPrefix("F001 is") }.map { $0.hasSuffix("ATT 14") } == [false, true, false])
    }

    @Test func `a test decides about each request`() async throws {
        let app = try await ready()
        let kinds = Mutex<[VirtualRequest.Kind]>([])
        sensor.respond { request in
            // The stack looks for a descriptor before it first subscribes.
            if request.kind != .discoverDescriptors { kinds.withLock { $0.append(request.kind) } }
            return request.value.count > 4 ? .error(.invalidAttributeValueLength) : .normal
        }
        app.write(Data([1, 2, 3, 4]), "F001")
        app.write(Data([1, 2, 3, 4, 5]), "F001")
        app.read("F001")
        app.subscribe("F002")
        app.subscribe("F002", false)
        await air.settle()
        #expect(app.lines.filter { $0.hasPrefix("F001 written") } == ["F001 written -", "F001 written ATT 13"])
        #expect(kinds.withLock { $0 } == [.write, .write, .read, .subscribe, .unsubscribe])
    }

    @Test func `a peripheral answers late, and the app gets the answer late`() async throws {
        let app = try await ready()
        sensor.respond(to: .read, of: "F001", with: .after(.seconds(20)))
        app.read("F001")
        app.write(Data([4]), "F001", .withoutResponse)
        await air.pass(.seconds(19))
        #expect(!app.has("F001 is [1, 2, 3] -"))
        try await air.wait(atMost: .seconds(2)) { app.has("F001 is [1, 2, 3] -") }
        // What the app sent behind it was not lost.
        await air.settle()
        #expect(try await sensor.value(of: "F001") == Data([4]))
    }

    @Test func `a peripheral that never answers is given up after 30 seconds`() async throws {
        let app = try await ready()
        sensor.respond(to: .write, of: "F001", with: .ignore)
        app.write(Data([4]), "F001")
        await air.pass(.seconds(29))
        #expect(app.peripheral?.state == .connected)
        try await air.wait(atMost: .seconds(5)) { app.lines.contains { $0.hasPrefix("lost") } }
    }

    @Test(arguments: [Data(), Data([7]), Data(repeating: 5, count: 500)])
    func `a peripheral sends values of another length`(value: Data) async throws {
        let app = try await ready()
        sensor.respond(to: .read, of: "F001", with: .value(value))
        app.read("F001")
        await air.settle()
        #expect(app.has("F001 is \([UInt8](value)) -"))
    }

    @Test func `a link drops in the middle of a transfer`() async throws {
        let app = try await ready()
        sensor.respond(to: .write, of: "F001", with: .disconnect, skipping: 2)
        for number in 1...UInt8(5) { app.write(Data([number]), "F001") }
        try await air.wait { app.has("lost CB 7") }
        #expect(app.lines.count { $0 == "F001 written -" } == 2)
        #expect(try await sensor.value(of: "F001") == Data([2]))
    }

    @Test func `packets that arrive after the one that drops the link have no effect`() async throws {
        let app = try await ready()
        sensor.respond(to: .writeWithoutResponse, of: "F001", with: .disconnect, times: 1)
        for number in 4...UInt8(6) { app.write(Data([number]), "F001", .withoutResponse) }
        try await air.wait { app.has("lost CB 7") }
        await air.settle()
        #expect(try await sensor.value(of: "F001") == Data([1, 2, 3]))
        // The next link is not affected.
        app.connect(try #require(app.peripheral))
        try await air.wait { app.lines.count { $0 == "descriptors of F002 -" } == 2 }
        app.write(Data([7]), "F001")
        await air.settle()
        #expect(try await sensor.value(of: "F001") == Data([7]))
    }

    @Test func `a flood of values reaches the app in order`() async throws {
        let app = try await ready()
        app.subscribe("F002")
        try await sensor.waitForSubscription(to: "F002")
        for number in 0..<1000 {
            try await sensor.simulateValueUpdate(Data([UInt8(number & 0xFF)]), for: "F002")
        }
        await air.settle()
        #expect(
            app.lines.filter { $0.hasPrefix("F002 is") } == (0..<1000).map { "F002 is [\($0 & 0xFF)] -" })
    }
}
