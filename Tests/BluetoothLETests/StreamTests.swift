import AdapterTestSupport
import Synchronization
import Testing
import VirtualRadio

@testable import BluetoothLE

@Suite("Streams of values", .timeLimit(.minutes(30)))
struct StreamTests {
    static let count = 10_000

    static func value(_ number: Int) -> [UInt8] { [UInt8(number >> 8), UInt8(truncatingIfNeeded: number)] }

    /// Hands out permission to send, so that no consumer is left further behind than its buffer is long, however
    /// slow the machine is.
    final class Window: Sendable {
        private let taken = Atomic(0)
        let size: Int

        init(size: Int) { self.size = size }

        func take() { taken.add(1, ordering: .relaxed) }

        func waitForRoom(_ number: Int) async {
            await until { number < taken.load(ordering: .relaxed) + size }
        }
    }

    @Test("10,000 writes without response arrive, each once, in order")
    func writes() async throws {
        let scene = try await Scene(time: .manual)
        let (remote, local) = (try scene.remote(Scene.stored), try scene.local(Scene.stored))
        let window = Window(size: 1000)
        let receiving = Task {
            var received: [[UInt8]] = []
            for try await case .written(let value, _, _) in local.events {
                received.append(value)
                window.take()
                if received.count == Self.count { break }
            }
            return received
        }
        try await scene.radio.passing {
            for number in 0..<Self.count {
                await window.waitForRoom(number)
                try await scene.connection.writeWithoutResponse(Self.value(number), to: remote)
            }
            #expect(try await receiving.value == (0..<Self.count).map(Self.value))
        }
    }

    @Test("10,000 notifications arrive, each once, in order")
    func notifications() async throws {
        let scene = try await Scene(time: .manual)
        let (values, subscriber) = try await scene.subscribe(to: Scene.notified)
        let window = Window(size: 4000)
        let receiving = Task {
            var received: [[UInt8]] = []
            for try await value in values {
                received.append(value)
                window.take()
                if received.count == Self.count { break }
            }
            return received
        }
        try await scene.radio.passing {
            for number in 0..<Self.count {
                await window.waitForRoom(number)
                try await subscriber.notify(Self.value(number))
            }
            #expect(try await receiving.value == (0..<Self.count).map(Self.value))
        }
    }

    @Test("A writer waits when the buffers are full, and continues when there is room")
    func room() async throws {
        let scene = try await Scene(time: .manual)
        let remote = try scene.remote(Scene.stored)
        let sent = Atomic(0)
        async let sending: Void = {
            for number in 0..<100 {
                try await scene.connection.writeWithoutResponse(Self.value(number), to: remote)
                sent.add(1, ordering: .relaxed)
            }
        }()
        await until { await scene.central.pendingCount == 1 }
        // As many as there are credits, and as went into the controller's buffers, of which something else may have
        // one.
        #expect((64...72).contains(sent.load(ordering: .relaxed)))
        await scene.radio.advance(by: .seconds(1))
        try await scene.radio.passing { await until { sent.load(ordering: .relaxed) == 100 } }
        try await sending
    }

    @Test("Both ends can stream at once, as client and as server")
    func bothWays() async throws {
        let scene = try await Scene(time: .manual)
        let service = try await scene.central.publish(Scene.definition)
        let back = try #require(scene.peripheral.connections.first)
        let forth = scene.connection
        let (remote, local) = (try scene.remote(Scene.stored), try scene.local(Scene.stored))
        let mine = try #require(service[Scene.stored])
        try await scene.radio.passing {
            let found = try await back.characteristic(Scene.stored, in: Scene.service)
            for number in 0..<300 {
                async let there: Void = forth.writeWithoutResponse(Self.value(number), to: remote)
                async let here: Void = back.write(Self.value(number), to: found)
                _ = try await (there, here)
            }
            let written = try await local.events.prefix(count: 300)
            let answered = try await mine.events.prefix(count: 300)
            #expect(written.map(\.value) == (0..<300).map(Self.value))
            #expect(answered.map(\.value) == (0..<300).map(Self.value))
        }
    }

    @Test(
        "A message of several thousand octets is sent in chunks",
        arguments: [Subscriber.ChunkSize.octets(20), .maximum])
    func message(_ chunkSize: Subscriber.ChunkSize) async throws {
        let scene = try await Scene(time: .manual)
        let (remote, local) = (try scene.remote(Scene.notified), try scene.local(Scene.notified))
        let message = (0..<5000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let sending = Task {
            for try await case .subscribed(let subscriber) in local.events {
                try await subscriber.sendMessage(message, chunkSize: chunkSize)
                // The link may end as soon as the message is out.
                return
            }
        }
        let connection = scene.connection
        let received = try await scene.radio.passing { try await connection.receiveMessage(from: remote) }
        #expect(received == message)
        try await sending.value
        #expect(local.subscribers.isEmpty)
    }
}

extension CharacteristicEvent {
    /// What was written; nil for anything else.
    var value: [UInt8]? {
        if case .written(let value, _, _) = self { value } else { nil }
    }
}
