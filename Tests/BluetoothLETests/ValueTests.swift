import AdapterTestSupport
import Testing
import VirtualRadio

@testable import BluetoothLE

@Suite("Reading and writing", .timeLimit(.minutes(30)))
struct ValueTests {
    static let lengths = [0, 1, 22, 23, 513 - 4, 510, 511, 512]

    static func value(_ length: Int) -> [UInt8] { (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 7) } }

    @Test("A value of any length is read and written in full", arguments: lengths, [UInt16(23), 517])
    func stored(_ length: Int, _ mtu: UInt16) async throws {
        var options = AdapterOptions(seed: 1)
        options.host.preferredMTU = mtu
        let scene = try await Scene(time: .manual, centralOptions: options)
        let (remote, local) = (try scene.remote(Scene.stored), try scene.local(Scene.stored))
        let connection = scene.connection
        #expect(connection.mtu == Int(mtu))
        let value = Self.value(length)
        try await scene.radio.passing { try await connection.write(value, to: remote) }
        #expect(await local.value == value)
        try await local.setValue(value.reversed())
        #expect(try await scene.radio.passing { try await connection.read(remote) } == value.reversed())
        let event = try await local.events.first()
        guard case .written(let written, _, let writer)? = event else {
            Issue.record("no .written, but \(String(describing: event))")
            return
        }
        #expect(written == value)
        #expect(scene.peripheral.connections == [writer])
    }

    @Test("A value that no attribute can hold is rejected locally")
    func tooLong() async throws {
        let scene = try await Scene()
        let remote = try scene.remote(Scene.stored)
        await #expect(throws: BluetoothError.valueTooLong(maximum: 512)) {
            try await scene.connection.write(Self.value(515), to: remote)
        }
        await #expect(throws: BluetoothError.valueTooLong(maximum: 514)) {
            try await scene.connection.writeWithoutResponse(Self.value(515), to: remote)
        }
        #expect(try await scene.works())
    }

    @Test("A handle is enough to write without response")
    func byHandle() async throws {
        let scene = try await Scene()
        let (remote, local) = (try scene.remote(Scene.stored), try scene.local(Scene.stored))
        try await scene.connection.writeWithoutResponse([1, 2, 3], to: remote.valueHandle)
        guard case .written(let written, _, _)? = try await local.events.first() else {
            Issue.record("nothing was written")
            return
        }
        #expect(written == [1, 2, 3])
        await #expect(throws: BluetoothError.valueTooLong(maximum: 514)) {
            try await scene.connection.writeWithoutResponse(Self.value(515), to: remote.valueHandle)
        }
    }

    @Test("A request that the peer refuses throws the peer's error")
    func refused() async throws {
        let scene = try await Scene()
        let notified = try scene.remote(Scene.notified).valueHandle
        await #expect(throws: BluetoothError.att(ATTError(.readNotPermitted, for: .readRequest, at: notified))) {
            _ = try await scene.connection.read(notified)
        }
        await #expect(throws: BluetoothError.att(ATTError(.writeNotPermitted, for: .writeRequest, at: notified))) {
            try await scene.connection.write([1], to: notified)
        }
        await #expect(throws: BluetoothError.att(ATTError(.invalidHandle, for: .readRequest, at: 0xFFF0))) {
            _ = try await scene.connection.read(0xFFF0)
        }
    }

    @Test("Values can be read by UUID, and descriptors by handle")
    func byUUID() async throws {
        let scene = try await Scene()
        let stored = try scene.remote(Scene.stored)
        #expect(
            try await scene.connection.readValues(of: Scene.stored) == [
                AttributeValue(handle: stored.valueHandle, value: [1, 2, 3])
            ])
        #expect(try await scene.connection.read(Scene.stored, in: Scene.service) == [1, 2, 3])
        let descriptors = try await scene.connection.discoverDescriptors(of: stored)
        #expect(descriptors.map(\.uuid) == [.characteristicUserDescription])
        #expect(try await scene.connection.read(descriptors[0]) == Array("stored".utf8))
    }

    @Test("A value longer than the attribute allows is rejected by the peer", arguments: [513, 514])
    func longerThanTheAttribute(_ length: Int) async throws {
        let scene = try await Scene()
        let remote = try scene.remote(Scene.stored)
        let error = ATTError(.invalidAttributeValueLength, for: .writeRequest, at: remote.valueHandle)
        await #expect(throws: BluetoothError.att(error)) {
            try await scene.connection.write(Self.value(length), to: remote)
        }
    }

    @Test("Calls on one link are carried out in order")
    func order() async throws {
        let scene = try await Scene(time: .manual)
        let (remote, local) = (try scene.remote(Scene.stored), try scene.local(Scene.stored))
        try await withThrowingTaskGroup { group in
            for number in 0..<20 {
                group.addTask { try await scene.connection.write([UInt8(number)], to: remote) }
                await until { await scene.central.pendingCount == number + 1 }
            }
            let everything = local.events
            let events = try await scene.radio.passing { try await everything.prefix(count: 20) }
            let values = events.map { if case .written(let value, _, _) = $0 { value } else { [] as [UInt8] } }
            #expect(values == (0..<20).map { [$0] })
            group.cancelAll()
        }
    }
}
