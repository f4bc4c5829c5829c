import AdapterTestSupport
import Testing
import VirtualRadio

@testable import BluetoothLE

@Suite("Dynamic values", .timeLimit(.minutes(30)))
struct DynamicValueTests {
    static let value: [UInt8] = (0..<512).map { UInt8(truncatingIfNeeded: $0) }

    @Test("A long value is requested piece by piece", arguments: [UInt16(23), 185, 517])
    func read(_ mtu: UInt16) async throws {
        var options = AdapterOptions(seed: 1)
        options.host.preferredMTU = mtu
        let scene = try await Scene(time: .manual, centralOptions: options)
        let (remote, local) = (try scene.remote(Scene.dynamic), try scene.local(Scene.dynamic))
        let answering = Task {
            for try await case .readRequested(let request) in local.events {
                #expect(request.handle == local.handle)
                try await request.respond(Self.value)
            }
        }
        let connection = scene.connection
        #expect(try await scene.radio.passing { try await connection.read(remote) } == Self.value)
        answering.cancel()
    }

    @Test("The application receives a write, whole or in parts")
    func write() async throws {
        let scene = try await Scene()
        let (remote, local) = (try scene.remote(Scene.dynamic), try scene.local(Scene.dynamic))
        let answering = Task {
            var received: [[IncomingWrite.Part]] = []
            for try await case .writeRequested(let request) in local.events {
                received.append(request.parts)
                try await request.accept()
                if received.count == 2 { break }
            }
            return received
        }
        try await scene.connection.write([1, 2], to: remote)
        try await scene.connection.write(Self.value + [], to: remote.valueHandle)
        let received = try await answering.value
        #expect(received[0] == [IncomingWrite.Part(handle: local.handle, offset: 0, value: [1, 2])])
        #expect(received[1].flatMap(\.value) == Self.value)
    }

    @Test("The application receives a queued write as one request")
    func queuedWrite() async throws {
        var options = AdapterOptions(seed: 1)
        options.host.preferredMTU = 100
        let scene = try await Scene(centralOptions: options)
        let (remote, local) = (try scene.remote(Scene.dynamic), try scene.local(Scene.dynamic))
        let writing = Task { try await scene.connection.write(Self.value, to: remote) }
        guard case .writeRequested(let request)? = try await local.events.first() else {
            Issue.record("no request")
            return
        }
        #expect(request.parts.map(\.offset) == [0, 95, 190, 285, 380, 475])
        #expect(request.parts.allSatisfy { $0.handle == local.handle })
        #expect(request.parts.flatMap(\.value) == Self.value)
        try await request.accept()
        try await writing.value
    }

    @Test("A request that the application refuses fails for the peer with the application's error code")
    func refused() async throws {
        let scene = try await Scene()
        let (remote, local) = (try scene.remote(Scene.dynamic), try scene.local(Scene.dynamic))
        let refusing = Task {
            for try await event in local.events {
                switch event {
                case .readRequested(let request): try await request.refuse(.insufficientResources)
                case .writeRequested(let request): try await request.refuse(ATTErrorCode(rawValue: 0x80))
                default: break
                }
            }
        }
        await #expect(
            throws: BluetoothError.att(ATTError(.insufficientResources, for: .readRequest, at: remote.valueHandle))
        ) { _ = try await scene.connection.read(remote) }
        let custom = ATTError(ATTErrorCode(rawValue: 0x80), for: .writeRequest, at: remote.valueHandle)
        await #expect(throws: BluetoothError.att(custom)) { try await scene.connection.write([1], to: remote) }
        refusing.cancel()
    }

    @Test("A request that the application ignores is answered with Unlikely Error, and a late answer fails")
    func forgotten() async throws {
        let scene = try await Scene(time: .manual)
        let (remote, local) = (try scene.remote(Scene.dynamic), try scene.local(Scene.dynamic))
        let connection = scene.connection
        await #expect(
            throws: BluetoothError.att(ATTError(.unlikelyError, for: .readRequest, at: remote.valueHandle))
        ) { _ = try await scene.radio.passing { try await connection.read(remote) } }
        guard case .readRequested(let request)? = try await local.events.first() else {
            Issue.record("no request")
            return
        }
        await #expect(throws: BluetoothError.requestExpired) { try await request.respond([]) }
        #expect(try await scene.works())
    }

    @Test("A request is rejected immediately if nothing can answer it any more")
    func nobody() async throws {
        let radio = VirtualRadio(time: .manual)
        let ports = [radio.addController(), radio.addController()]
        let (connection, peripheral) = try await radio.passing {
            let central = try await Adapter.open(ports[0])
            let peripheral = try await Adapter.open(ports[1])
            _ = try await peripheral.publish(Scene.definition)
            try await peripheral.advertise(AdvertisementData())
            let address = try #require(peripheral.information?.address)
            return (try await central.connect(to: address), peripheral)
        }
        let before = radio.now
        await #expect(throws: BluetoothError.self) {
            try await radio.passing {
                let dynamic = try await connection.characteristic(Scene.dynamic, in: Scene.service)
                _ = try await connection.read(dynamic)
            }
        }
        #expect(before.duration(to: radio.now) < .seconds(20))
        await peripheral.close()
    }

    @Test("Answering a request after the link has ended throws the reason")
    func afterTheEnd() async throws {
        let scene = try await Scene()
        let (remote, local) = (try scene.remote(Scene.dynamic), try scene.local(Scene.dynamic))
        let reading = Task { try await scene.connection.read(remote) }
        guard case .readRequested(let request)? = try await local.events.first() else {
            Issue.record("no request")
            return
        }
        try await scene.connection.disconnect()
        try await request.connection.waitForDisconnection()
        await #expect(throws: BluetoothError.disconnected(.byPeer)) { try await request.respond([1]) }
        await #expect(throws: BluetoothError.disconnected(.byThisDevice)) { _ = try await reading.value }
    }

    @Test("A value that shrinks during a long read ends after the parts already read")
    func offsetBeyond() async throws {
        var options = AdapterOptions(seed: 1)
        options.host.preferredMTU = 23
        let scene = try await Scene(centralOptions: options)
        let (remote, local) = (try scene.remote(Scene.dynamic), try scene.local(Scene.dynamic))
        let answering = Task {
            for try await case .readRequested(let request) in local.events {
                try await request.respond(request.offset == 0 ? Self.value : [1])
            }
        }
        #expect(try await scene.connection.read(remote) == Array(Self.value.prefix(22)))
        answering.cancel()
    }
}
