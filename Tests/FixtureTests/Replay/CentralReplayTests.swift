import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHCI
import BluetoothHost
import BluetoothL2CAP
import TestSupport
import Testing

/// Our host as the central, against the peripheral of the captures.
@Suite("Fixtures: replay as a central")
struct CentralReplayTests {
    @Test("discovery finds the database of the recorded peripheral", arguments: Capture.named("discovery-central"))
    func discovery(_ capture: Capture) throws {
        var replay = try Replay(capture, mtu: 23)
        try replay.connect()
        #expect(try replay.run(.discoverPrimaryServices()) == .success(.services(FixtureDatabase.services)))
        #expect(
            try replay.run(.discoverPrimaryServices(uuid: "180F"))
                == .success(.services([FixtureDatabase.services[2]])))

        let includes = try replay.run(.discoverIncludedServices(in: 0x001C...0x002E))
        guard case .success(.includes(let found)) = includes else {
            Issue.record("\(includes)")
            return
        }
        // The recorded server truncates the 128-bit UUID of the second one to its first 16 bits.
        #expect(found.map(\.uuid) == ["180F", "1D3E"])
        #expect(found.map(\.startHandle) == [0x0010, 0x0014])

        let expected = try FixtureDatabase.make()
        var characteristics = 0
        for service in FixtureDatabase.services {
            let result = try replay.run(.discoverCharacteristics(in: service.startHandle...service.endHandle))
            guard case .success(.characteristics(let found)) = result else {
                Issue.record("\(result)")
                continue
            }
            for one in found {
                #expect(expected.type(of: one.valueHandle) == one.uuid)
                characteristics += 1
                guard one.valueHandle < one.endHandle else { continue }
                let first = AttributeHandle(rawValue: one.valueHandle.rawValue + 1)
                let descriptors = try replay.run(.discoverDescriptors(in: first...one.endHandle))
                guard case .success(.descriptors(let found)) = descriptors else {
                    Issue.record("\(descriptors)")
                    continue
                }
                #expect(!found.isEmpty && found.allSatisfy { expected.type(of: $0.handle) == $0.uuid })
            }
        }
        #expect(characteristics == 15)

        let attributes = try replay.run(.discoverDescriptors(in: 0x0001...0xFFFF))
        guard case .success(.descriptors(let all)) = attributes else {
            Issue.record("\(attributes)")
            return
        }
        #expect(all.map(\.handle.rawValue) == Array(0x0001...0x002E))
        #expect(all.allSatisfy { expected.type(of: $0.handle) == $0.uuid })
        try end(&replay)
    }

    @Test("values are read as recorded", arguments: Capture.named("reads-central"))
    func reads(_ capture: Capture) throws {
        typealias Fixture = FixtureDatabase
        var replay = try Replay(capture, mtu: 23)
        try replay.connect()
        #expect(try replay.run(.read(Fixture.modelNumberHandle)) == .success(.value(Fixture.modelNumber)))
        #expect(try replay.run(.readLong(Fixture.longValueHandle)) == .success(.value(Fixture.longValue)))
        #expect(
            try replay.run(.readByUUID("2A29"))
                == .success(
                    .values([AttributeValue(handle: Fixture.manufacturerNameHandle, value: Fixture.manufacturerName)])))
        let two = [Fixture.batteryLevelHandle, Fixture.modelNumberHandle]
        #expect(
            try replay.run(.readMultiple(two)) == .success(.value(Fixture.batteryLevel + Fixture.modelNumber)))
        #expect(
            try replay.run(.readMultipleVariable(two))
                == .success(
                    .values([
                        AttributeValue(handle: two[0], value: Fixture.batteryLevel),
                        AttributeValue(handle: two[1], value: Fixture.modelNumber),
                    ])))
        try end(&replay)
    }

    @Test("a larger ATT_MTU is negotiated and used", arguments: Capture.named("mtu-exchange-central"))
    func exchange(_ capture: Capture) throws {
        var replay = try Replay(capture, mtu: 185)
        try replay.connect()
        let mtus = replay.take { if case .link(_, .mtuChanged(let mtu)) = $0.event { mtu } else { nil } }
        #expect(mtus == [185])
        #expect(try replay.run(.discoverPrimaryServices()) == .success(.services(FixtureDatabase.services)))
        #expect(
            try replay.run(.readLong(FixtureDatabase.longValueHandle)) == .success(.value(FixtureDatabase.longValue)))
        try endByPeer(&replay)
    }

    @Test("values are written as recorded", arguments: Capture.named("writes-central"))
    func writes(_ capture: Capture) throws {
        let handle = FixtureDatabase.longValueHandle
        let byRequest = Array("by request".utf8), byCommand = Array("by command".utf8)
        let long = Array(FixtureDatabase.longValue.prefix(100))
        var replay = try Replay(capture, mtu: 23)
        try replay.connect()
        #expect(try replay.run(.write(handle, byRequest)) == .success(.written))
        #expect(try replay.host.writeWithoutResponse(byCommand.span, to: handle, on: #require(replay.link)))
        try replay.settle()
        #expect(try replay.run(.readLong(handle)) == .success(.value(byCommand)))
        #expect(try replay.run(.writeLong(handle, long)) == .success(.written))
        #expect(try replay.run(.readLong(handle)) == .success(.value(long)))
        #expect(try replay.run(.write(FixtureDatabase.writeOnlyHandle, [])) == .success(.written))
        try end(&replay)
    }

    @Test("notified and indicated values arrive", arguments: Capture.named("notifications-central"))
    func notifications(_ capture: Capture) throws {
        typealias Fixture = FixtureDatabase
        let values = ["", "1", "twenty bytes exactly", "more than twenty byt"].map { Array($0.utf8) }
        var replay = try Replay(capture, mtu: 23)
        try replay.connect()
        let notifying = Fixture.notifyingConfigurationHandle, indicating = Fixture.indicatingConfigurationHandle
        #expect(try replay.run(.configure(descriptor: notifying, .notifications)) == .success(.written))
        let notified = replay.take { seen -> [UInt8]? in
            guard case .client(_, .notification(Fixture.notifyingHandle, _)) = seen.event else { return nil }
            return seen.bytes
        }
        #expect(notified == values)
        #expect(try replay.run(.configure(descriptor: notifying, [])) == .success(.written))
        #expect(try replay.run(.configure(descriptor: indicating, .indications)) == .success(.written))
        let indicated = replay.take { seen -> [UInt8]? in
            guard case .client(_, .indication(Fixture.indicatingHandle, _)) = seen.event else { return nil }
            return seen.bytes
        }
        #expect(indicated == values)
        #expect(replay.controller.frames.filter { $0.payload == [0x1E] }.count == values.count)
        #expect(try replay.run(.configure(descriptor: indicating, [])) == .success(.written))
        try endByPeer(&replay)
    }

    @Test(
        "an error response of the recorded peripheral fails the operation",
        arguments: Capture.named("errors-central"))
    func errors(_ capture: Capture) throws {
        typealias Fixture = FixtureDatabase
        var replay = try Replay(capture, mtu: 23)
        try replay.connect()
        #expect(try replay.refusal(of: .read(0x00FF)) == .invalidHandle)
        #expect(try replay.refusal(of: .read(Fixture.writeOnlyHandle)) == .readNotPermitted)
        #expect(try replay.refusal(of: .read(Fixture.encryptedHandle)) == .insufficientEncryption)
        #expect(try replay.refusal(of: .readLong(Fixture.longValueHandle, offset: 301)) == .invalidOffset)
        #expect(
            try replay.refusal(of: .write(Fixture.modelNumberHandle, Array("not writable".utf8))) == .writeNotPermitted)
        // An empty result is an answer, not an error.
        #expect(try replay.run(.discoverPrimaryServices(uuid: "180D")) == .success(.services([])))
        #expect(try replay.refusal(of: .readMultiple([Fixture.modelNumberHandle, 0x00FF])) == .attributeNotFound)
        try end(&replay)
    }

    @Test("parameters requested by the peripheral are granted", arguments: Capture.named("connection-update-central"))
    func parameters(_ capture: Capture) throws {
        var replay = try Replay(capture, mtu: 23)
        try replay.connect()
        try replay.settle()
        let answers = replay.controller.frames.filter { $0.channel == .leSignalling }.map(\.payload)
        let recorded = try capture.frames().filter { !$0.isFromController && $0.channel == .leSignalling }
        #expect(answers == recorded.map(\.payload))

        let parameters = ConnectionParameters(
            minimumInterval: .milliseconds(15), maximumInterval: .milliseconds(15), supervisionTimeout: .seconds(2))
        let request = try replay.host.updateParameters(parameters, of: #require(replay.link), at: replay.now)
        try replay.settle()
        let changes = replay.take { if case .link(_, .parametersChanged(let now)) = $0.event { now } else { nil } }
        #expect(changes.map(\.latency) == [4, 0])
        #expect(changes.last?.interval == .milliseconds(15))
        let completed = replay.take { if case .link(_, .requestCompleted(request)) = $0.event { true } else { nil } }
        #expect(completed == [true])
        try endByPeer(&replay)
    }

    // MARK: The end

    private func end(_ replay: inout Replay) throws {
        #expect(replay.controller.unanswered.map { $0.hexadecimal() } == [])
        try replay.host.disconnect(#require(replay.link), at: replay.now)
        try replay.settle()
        #expect(replay.link == nil)
    }

    private func endByPeer(_ replay: inout Replay) throws {
        #expect(replay.controller.unanswered.map { $0.hexadecimal() } == [])
        #expect(replay.link != nil)
        try replay.deliver(replay.controller.disconnect())
        #expect(replay.link == nil)
    }
}
