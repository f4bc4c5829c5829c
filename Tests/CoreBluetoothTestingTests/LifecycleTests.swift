import BluetoothBase
import CoreBluetooth
import CoreBluetoothTesting
import Testing

/// An app whose methods run on the main actor.
@MainActor private final class MainActorApp {
    private(set) var isReady = false

    func start(_ sensor: VirtualPeripheral) async throws {
        try await sensor.waitForConnection()
        isReady = true
    }
}

@Suite(.timeLimit(.minutes(30)), .radioCapture)
struct LifecycleTests {
    private let air = TestRadio(time: .manual)
    private let sensor = VirtualPeripheral(
        name: "Sensor", services: [VirtualService("180D", characteristics: [VirtualCharacteristic("2A37", .notify)])])

    @Test func `an app that the system ends and brings back restores its state`() async throws {
        try await air.add(sensor)
        var app: Phone? = air.app { Phone(restoring: "phone") }
        try await air.wait { app?.has("descriptors of 2A37 -") == true }
        app?.subscribe("2A37")
        try await sensor.waitForSubscription(to: "2A37")
        await air.settle()
        let identifier = app?.peripheral?.identifier
        await air.relaunch(&app) { Phone(restoring: "phone", scans: false) }
        try await air.wait { app?.has("connected") == true }
        #expect(app?.lines.first == "restored Sensor")
        #expect(app?.peripheral?.identifier == identifier)
        try await sensor.waitForSubscription(to: "2A37")
        try await sensor.simulateValueUpdate(Data([0, 72]), for: "2A37")
        await air.settle()
        #expect(app?.has("2A37 is [0, 72] -") == true)
    }

    @Test func `an app with another restore identifier starts without state`() async throws {
        try await air.add(sensor)
        var app: Phone? = air.app { Phone(restoring: "phone") }
        try await air.wait { app?.has("connected") == true }
        await air.relaunch(&app) { Phone(restoring: "other", scans: false) }
        try await air.wait { app?.has("poweredOn") == true }
        #expect(app?.lines == ["poweredOn"])
    }

    @Test func `a test waits for a disconnection`() async throws {
        try await air.add(sensor)
        let app = air.app { Phone() }
        try await sensor.waitForConnection()
        try await air.wait { app.has("connected") }
        app.manager.cancelPeripheralConnection(try #require(app.peripheral))
        try await sensor.waitForDisconnection()
        #expect(sensor.connectionCount == 0)
        try await sensor.waitForDisconnection()
    }

    @Test func `a test finds that nothing happens within ten seconds`() async throws {
        try await air.add(sensor)
        let app = air.app { Phone() }
        try await air.wait { app.has("connected") }
        try await sensor.simulateDisconnection()
        // This app does not connect again.
        var isBack = try await air.happens(within: .seconds(10)) { try await sensor.waitForConnection() }
        #expect(!isBack)
        app.connect(try #require(app.peripheral))
        isBack = try await air.happens(within: .seconds(10)) { try await sensor.waitForConnection() }
        #expect(isBack)
    }

    @Test func `a wait for something that never happens ends with an error`() async throws {
        try await air.add(sensor)
        let error = await #expect(throws: NothingHappened.self) { try await air.wait(atMost: .seconds(5)) { false } }
        #expect(error?.limit == .seconds(5) && error?.call.hasPrefix("LifecycleTests.swift:") == true)
        await #expect(throws: NothingHappened.self) {
            try await air.passing(atMost: .seconds(5)) { [sensor] in try await sensor.waitForConnection() }
        }
    }

    @Test func `a peripheral waits for what the app writes`() async throws {
        let lamp = VirtualPeripheral(
            name: "Lamp",
            services: [VirtualService("FF00", characteristics: [.init("FF01", .write, value: Data([0]))])])
        try await air.add(lamp)
        let app = air.app { Phone() }
        try await air.wait { app.has("descriptors of FF01 -") }
        // Each value counts, also one that is written before the test waits for it.
        app.write(Data([1]), "FF01")
        app.write(Data([2]), "FF01")
        await air.settle()
        #expect(try await lamp.waitForWrite(to: "FF01") == Data([1]))
        #expect(try await lamp.waitForWrite(to: "FF01") == Data([2]))
        let isWritten = try await air.happens(within: .seconds(1)) { _ = try await lamp.waitForWrite(to: "FF01") }
        #expect(!isWritten)
        app.write(Data([3]), "FF01")
        #expect(try await lamp.waitForWrite(to: "FF01") == Data([3]))
        await #expect(throws: CBError.self) { try await lamp.waitForWrite(to: "FF09") }
    }

    @Test func `an error within the time is thrown, not taken for nothing happening`() async throws {
        try await air.add(sensor)
        await #expect(throws: CBError(.invalidParameters)) {
            try await air.happens(within: .seconds(10)) { try await sensor.waitForSubscription(to: "2A38") }
        }
        let other = TestRadio(time: .manual)
        let error = await #expect(throws: NothingHappened.self) {
            try await air.happens(within: .seconds(10)) { try await other.wait(atMost: .seconds(1)) { false } }
        }
        #expect(error?.limit == .seconds(1))
    }

    @Test func `a call of a peripheral waits for 120 seconds, unless another call limits it`() async throws {
        let sensor = VirtualPeripheral(name: "Sensor", advertisements: [])
        try await air.add(sensor)
        let line = #line + 1
        let error = await #expect(throws: NothingHappened.self) { try await sensor.waitForConnection() }
        #expect(error?.limit == .seconds(120) && error?.call == "LifecycleTests.swift:\(line)")
        let start = air.radio.now
        let isConnected = try await air.happens(within: .seconds(130)) { try await sensor.waitForConnection() }
        #expect(!isConnected && start.duration(to: air.radio.now) == .seconds(130))
    }

    @Test func `a call in real time is limited as well`() async throws {
        let air = TestRadio()
        try await air.add(sensor)
        await #expect(throws: NothingHappened.self) {
            try await air.passing(atMost: .milliseconds(50)) { try await sensor.waitForConnection() }
        }
    }

    @Test func `the calls of an app that is not Sendable let time pass`() async throws {
        final class App {
            private let phone: VirtualPeripheral
            private(set) var connections = 0

            init(_ phone: VirtualPeripheral) { self.phone = phone }

            func connect() async throws -> Int {
                try await phone.simulateConnection()
                connections += 1
                return connections
            }
        }
        try await air.add(sensor)
        let phone = air.app { Phone() }, app = App(sensor)
        #expect(try await air.passing { try await app.connect() } == 1)
        #expect(app.connections == 1 && phone.has("poweredOn"))
    }

    @MainActor @Test func `the calls of an app on the main actor let time pass`() async throws {
        try await air.add(sensor)
        let phone = air.app { Phone() }
        let app = MainActorApp()
        try await air.passing { try await app.start(sensor) }
        let happens = try await air.happens(within: .seconds(1)) { try await app.start(sensor) }
        #expect(app.isReady && happens && phone.has("poweredOn"))
    }

    @Test func `a central of the radio takes no real time either`() async throws {
        let phone = try await VirtualCentral(on: air)
        await #expect(throws: CBError.self) { try await phone.read("F001", in: "180D") }
        await #expect(throws: NothingHappened.self) {
            try await air.passing(atMost: .seconds(20)) { try await phone.simulateConnection(to: "180D") }
        }
    }

    @Test func `radios of different tests do not receive each other`() async throws {
        let other = TestRadio(time: .manual)
        try await air.add(sensor)
        let (here, there) = (air.app { Phone(connects: false) }, other.app { Phone(connects: false) })
        try await air.wait { !here.advertisements.isEmpty }
        await other.pass(.seconds(10))
        #expect(there.has("poweredOn") && there.advertisements.isEmpty)
    }

    @Test(arguments: [false, true])
    func `a test decides what the app's adapter supports`(isSupported: Bool) async throws {
        let air = TestRadio(time: .manual, supportsExtendedAdvertising: isSupported)
        let app = air.app { Phone(scans: false) }
        try await air.wait { app.has("poweredOn") }
        #expect(air.app { CBCentralManager.supports(.extendedScanAndConnect) } == isSupported)
    }
}
