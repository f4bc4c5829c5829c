import AdapterTestSupport
import CoreBluetooth
import CoreBluetoothTesting
import Foundation
import Logging
import Synchronization
import Testing

/// The lines that were logged.
private final class Lines: LogHandler {
    private let lines = Mutex<[String]>([])
    let metadataProvider: Logger.MetadataProvider? = nil

    var all: [String] { lines.withLock { $0 } }

    var metadata: Logger.Metadata {
        get { [:] }
        set {}
    }
    var logLevel: Logger.Level {
        get { .trace }
        set {}
    }
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { nil }
        set {}
    }

    func log(event: LogEvent) { lines.withLock { $0.append("\(event.message)") } }
}

@Suite(.timeLimit(.minutes(30)))
struct LeftoverTests {
    private let sensor = VirtualPeripheral(
        name: "Lock",
        services: [
            VirtualService("180D", characteristics: [.init("F001", .read, value: Data([1]), security: .encrypted)])
        ])

    @Test func `an app that ends while it is connected logs nothing`() async throws {
        let air = TestRadio(time: .manual), lines = Lines()
        try await air.add(sensor)
        var app: Phone? = air.app { Phone() }
        try await air.wait { app?.has("connected") == true }
        BluetoothEnvironment.with(logger: Logger(label: "test") { _ in lines }) { app = nil }
        await air.settle()
        #expect(lines.all.isEmpty)
    }

    @Test(arguments: [VirtualRadio.Time.manual, .system])
    func `a radio that is released releases its peripherals`(time: VirtualRadio.Time) async throws {
        weak var released: VirtualPeripheral?
        do {
            let air = TestRadio(time: time), sensor = VirtualPeripheral(name: "Sensor")
            try await air.add(sensor)
            released = sensor
            #expect(released != nil)
        }
        // A task may have it for a moment.
        for round in 0..<1000 where released != nil { await giveWay(round) }
        #expect(released == nil)
    }

    @Test(arguments: [VirtualRadio.Time.manual, .system])
    func `a radio that is released while devices are connected releases everything`(
        time: VirtualRadio.Time
    ) async throws {
        weak var radio: VirtualRadio?
        weak var released: VirtualPeripheral?
        do {
            let delayed = VirtualAdvertisement(name: "Later", delay: .seconds(100))
            let sensor = VirtualPeripheral(
                name: "Sensor", advertisements: [VirtualAdvertisement(name: "Sensor"), delayed],
                services: [VirtualService("180D", characteristics: [.init("F001", .notify)])])
            let air = TestRadio(time: time)
            try await air.add(sensor)
            let app = air.app { Phone() }
            try await air.wait { app.has("descriptors of F001 -") }
            app.subscribe("F001")
            try await sensor.waitForSubscription(to: "F001")
            radio = air.radio
            released = sensor
            #expect(radio != nil && sensor.connectionCount == 1)
        }
        for round in 0..<1000 where released != nil || radio != nil { await giveWay(round) }
        #expect(released == nil)
        #expect(radio == nil)
    }

    @Test func `an app that restores and pairs leaves nothing on disk`() async throws {
        let air = TestRadio(time: .manual)
        try await air.add(sensor)
        var app: Phone? = air.app { Phone(restoring: "phone") }
        try await air.wait { app?.has("descriptors of F001 -") == true }
        app?.read("F001")
        try await air.wait { app?.has("F001 is [1] -") == true }
        await air.relaunch(&app) { Phone(restoring: "phone", scans: false) }
        try await air.wait { app?.has("restored Lock") == true }
        // The place of every manager's state.
        let directory = air.app { BluetoothEnvironment.stateDirectory }
        #expect(!FileManager.default.fileExists(atPath: directory.appendingPathComponent("central-phone.json").path))
        let process = "\(ProcessInfo.processInfo.processIdentifier)"
        let left = try FileManager.default.contentsOfDirectory(atPath: FileManager.default.temporaryDirectory.path)
        // Other tests of this process have directories with other names.
        #expect(!left.contains { $0.hasPrefix("CoreBluetoothTesting-") && $0.hasSuffix(process) })
    }
}
