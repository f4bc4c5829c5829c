import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHCI
import BluetoothHost
import BluetoothL2CAP
import TestSupport
import Testing

/// Our host on hci0, against BlueZ as the kernel's monitor recorded it.
@Suite("Fixtures: replay against BlueZ")
struct KernelReplayTests {
    static let bluez = DeviceAddress(0x00AA_0101_0001, kind: .public)
    static let long = (0..<300).map { UInt8($0 % 251) }
    static let values = ["first", "second", "third"].map { Array($0.utf8) }

    private func capture(_ name: String) throws -> Capture {
        try #require(Capture.all.first { $0.name == "Kernel/\(name)" })
    }

    @Test("as a central: discovery of BlueZ's database, a long value, notifications and indications")
    func central() throws {
        var replay = try Replay(capture("ours-to-bluez-hci0"), mtu: 65, ownAddress: .public)
        try replay.connect(to: Self.bluez)
        guard case .success(.database(let database)) = try replay.run(.discoverAll(includes: true)) else {
            Issue.record("nothing was discovered")
            return
        }
        #expect(
            database.services.map(\.uuid) == [
                "1800", "1801", "180A", sample(0), "180F", "E07F0AE8-00BB-47F5-94F4-4A7174EA3032",
            ])
        #expect(database.characteristics.count == 17)
        let value = try handle(1, in: database)
        #expect(try replay.run(.writeLong(value, Self.long)) == .success(.written))
        #expect(try replay.run(.readLong(value)) == .success(.value(Self.long)))
        for (number, subscription) in [(3, .notifications), (4, .indications)] as [(UInt32, GATTClientConfiguration)] {
            let handle = try handle(number, in: database)
            let descriptor = AttributeHandle(handle.rawValue + 1)
            #expect(try replay.run(.configure(descriptor: descriptor, subscription)) == .success(.written))
            let values = replay.take { seen -> [UInt8]? in
                switch seen.event {
                case .client(_, .notification(handle, _)), .client(_, .indication(handle, _)): seen.bytes
                default: nil
                }
            }
            #expect(values == Self.values)
            #expect(try replay.run(.configure(descriptor: descriptor, [])) == .success(.written))
        }
        #expect(replay.controller.unanswered.map { $0.hexadecimal() } == [])
        try replay.host.disconnect(#require(replay.link), at: replay.now)
        try replay.settle()
        #expect(replay.link == nil)
    }

    @Test("as a peripheral: BlueZ gets the recorded responses")
    func peripheral() throws {
        let capture = try capture("bluez-to-ours-hci0")
        var replay = try Replay(capture, mtu: 65, ownAddress: .public, name: "Ours")
        let definition = GATTServiceDefinition(
            uuid: sample(0),
            characteristics: [
                GATTCharacteristicDefinition(uuid: sample(1), properties: [.read, .write], value: .variableLength([])),
                GATTCharacteristicDefinition(uuid: sample(2), properties: .notify),
                GATTCharacteristicDefinition(uuid: sample(3), properties: .indicate),
            ])
        _ = try replay.host.addService(definition, at: replay.now)
        try replay.host.startAdvertising(AdvertisingParameters(data: [2, 1, 6]), at: replay.now)
        try replay.settle()
        try replay.deliver(replay.controller.link())
        try replay.waitForLink()
        var compared = 0
        for frame in try capture.frames() where frame.channel == .attributeProtocol {
            if frame.isFromController {
                try replay.deliver(replay.controller.packets(of: frame))
            } else {
                try replay.sendUnasked(frame.payload)
            }
            try replay.settle()
            guard !frame.isFromController else { continue }
            #expect(replay.controller.takeFrame() == frame.payload)
            compared += 1
        }
        #expect(compared > 30)
        #expect(replay.controller.takeFrame() == nil)
    }

    /// The UUIDs of what was recorded.
    private func sample(_ number: UInt32) -> BluetoothUUID {
        BluetoothUUID(high: UInt64(number) << 32 | 0x4C1B_4E54, low: 0x9E9C_5F0C_2B7A_1D3E)
    }

    private func handle(_ number: UInt32, in database: DiscoveredDatabase) throws -> AttributeHandle {
        try #require(database.characteristics.first { $0.uuid == sample(number) }).valueHandle
    }
}
