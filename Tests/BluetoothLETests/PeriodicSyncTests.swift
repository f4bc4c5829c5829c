import AdapterTestSupport
import BluetoothBase
import Testing
import VirtualRadio

@testable import BluetoothLE

@Suite("Periodic advertising", .timeLimit(.minutes(30)))
struct PeriodicSyncTests {
    private static func configure(_ controller: inout ControllerConfiguration) {
        controller.hasExtendedAdvertising = true
        controller.hasPeriodicAdvertising = true
    }

    private static func parameters(_ data: [UInt8], responses: PeriodicSubevents? = nil) -> AdvertisingParameters {
        var parameters = AdvertisingParameters(
            isConnectable: false, data: [], extended: ExtendedAdvertising(sid: 3))
        parameters.periodic = PeriodicAdvertising(
            interval: .milliseconds(100)...(.milliseconds(100)), data: data, responses: responses)
        return parameters
    }

    /// Two adapters that are connected, of which the peripheral advertises periodically beside its service.
    private static func scene(_ parameters: AdvertisingParameters) async throws -> (Scene, AdvertisingSet) {
        let scene = try await Scene(time: .manual, configure)
        let set = try await scene.radio.passing { [peripheral = scene.peripheral] in
            try await peripheral.addAdvertisingSet(parameters)
        }
        return (scene, set)
    }

    private static func advertiser(_ scene: Scene) async throws -> [PeriodicAdvertiser] {
        [PeriodicAdvertiser(peer: PeerID(try #require(scene.peripheral.information?.address)), sid: 3)]
    }

    @Test("a set's data arrives, including updates, until either side stops")
    func reports() async throws {
        let long = [UInt8](repeating: 7, count: 1650)
        let (scene, set) = try await Self.scene(Self.parameters(long))
        let advertisers = try await Self.advertiser(scene)
        try await scene.radio.passing { [central = scene.central] in
            let first = try await central.synchronize(with: advertisers)
            #expect(first.information.sid == 3 && first.information.interval == .milliseconds(100))
            var reports = first.makeAsyncIterator()
            let report = try #require(await reports.next())
            #expect(report.data == long && !report.isTruncated && report.subevent == nil && report.rssi == -50)
            first.stop()
            while try await reports.next() != nil {}

            // What fits into one command is changed without a break.
            try await set.update(Self.parameters([1, 2]))
            let second = try await central.synchronize(with: advertisers)
            try await set.update(Self.parameters([3, 4, 5]))
            for try await report in second where report.data == [3, 4, 5] { break }
            set.stop()
            await #expect(throws: BluetoothError.syncEnded(.lost)) { for try await _ in second {} }
        }
    }

    @Test("synchronizing with an absent set times out, or ends with its task") func inVain() async throws {
        let scene = try await Scene(time: .manual, Self.configure)
        let advertisers = try await Self.advertiser(scene)
        try await scene.radio.passing { [central = scene.central] in
            await #expect(throws: BluetoothError.timedOut) {
                try await central.synchronize(with: advertisers, timeout: .seconds(2))
            }
            await #expect(throws: BluetoothError.timedOut) {
                try await withTimeout(.seconds(1)) { () throws(BluetoothError) in
                    try await central.synchronize(with: advertisers)
                }
            }
        }
        try await scene.radio.passing { [central = scene.central] in await central.close() }
    }

    @Test("a sync that a peer transfers needs no scan and outlives the link")
    func transfer() async throws {
        let (scene, set) = try await Self.scene(Self.parameters([9, 9]))
        let toCentral = try #require(scene.peripheral.connections.first)
        try await scene.radio.passing { [connection = scene.connection] in
            let syncs = try await connection.periodicSyncs()
            try await toCentral.transfer(set, serviceData: 0x1234)
            var iterator = syncs.makeAsyncIterator()
            let sync = try #require(await iterator.next())
            #expect(sync.serviceData == 0x1234 && sync.information.sid == 3)
            try await connection.disconnect()
            for try await report in sync {
                #expect(report.data == [9, 9])
                break
            }
            do {
                while try await iterator.next() != nil {}
                Issue.record("it ended without a reason")
            } catch {
                guard (error as? BluetoothError)?.code == .disconnected else { throw error }
            }
        }
    }

    @Test("subevents are requested, received and answered") func responses() async throws {
        let subevents = PeriodicSubevents(
            count: 1, interval: .milliseconds(50), responseSlotDelay: .milliseconds(10),
            responseSlotSpacing: .milliseconds(1), responseSlotCount: 4)
        let (scene, set) = try await Self.scene(Self.parameters([], responses: subevents))
        let advertisers = try await Self.advertiser(scene)
        try await scene.radio.passing { [central = scene.central] in
            let events = set.subevents()
            try await set.setSubeventData([PeriodicSubeventData(subevent: 0, data: [1], responseSlots: 0..<4)])
            let responder = Task {
                let sync = try await central.synchronize(with: advertisers)
                try await sync.selectSubevents([0])
                for try await report in sync { try await sync.respond([4, 5], to: report, slot: 2) }
            }
            defer { responder.cancel() }
            for try await event in events {
                switch event {
                case .dataRequested(let range):
                    try await set.setSubeventData(
                        range.map { PeriodicSubeventData(subevent: $0, data: [6], responseSlots: 0..<4) })
                case .response(let report, let slot):
                    #expect(report.data == [4, 5] && slot == 2 && report.subevent == 0)
                    return
                case .responseLost: Issue.record("lost")
                }
            }
        }
    }

    @Test("an advertiser can connect to a device that listens to its subevents") func connects() async throws {
        let subevents = PeriodicSubevents(
            count: 2, interval: .milliseconds(50), responseSlotDelay: .milliseconds(10),
            responseSlotSpacing: .milliseconds(1), responseSlotCount: 4)
        let (scene, set) = try await Self.scene(Self.parameters([], responses: subevents))
        let advertisers = try await Self.advertiser(scene)
        let address = try #require(scene.central.information?.address)
        try await scene.radio.passing { [label = scene.central, gateway = scene.peripheral, link = scene.connection] in
            _ = try await label.publish(Scene.definition)
            try await link.disconnect()
            // A device synchronizes to what is sent, and remains synchronized by it, however slowly these tasks run.
            let events = set.subevents()
            let feeder = Task {
                for try await case .dataRequested(let range) in events {
                    try await set.setSubeventData(
                        range.map { PeriodicSubeventData(subevent: $0, data: [1], responseSlots: 0..<0) })
                }
            }
            defer { feeder.cancel() }
            try await set.setSubeventData([PeriodicSubeventData(subevent: 0, data: [1], responseSlots: 0..<0)])
            let sync = try await label.synchronize(with: advertisers)
            try await sync.selectSubevents([1])
            let connection = try await gateway.connect(to: PeerID(address), inSubevent: 1, of: set)
            #expect(connection.role == .central)
            let value = try await connection.characteristic(Scene.stored, in: Scene.service)
            #expect(try await connection.read(value) == [1, 2, 3])
            try await connection.disconnect()
            await #expect(throws: BluetoothError.invalidParameters) {
                try await gateway.connect(to: PeerID(address), inSubevent: 2, of: set)
            }
        }
    }

    @Test("advertising and synchronizing fail if the controller lacks support") func unsupported() async throws {
        let scene = try await Scene(time: .manual) { $0.hasExtendedAdvertising = true }
        let advertisers = try await Self.advertiser(scene)
        try await scene.radio.passing { [central = scene.central, peripheral = scene.peripheral] in
            await #expect(throws: BluetoothError.notSupported(.periodicSynchronization)) {
                try await central.synchronize(with: advertisers)
            }
            await #expect(throws: BluetoothError.notSupported(.periodicAdvertising)) {
                try await peripheral.addAdvertisingSet(Self.parameters([1]))
            }
        }
    }
}
