import BluetoothGATT
import Testing
import VirtualRadio

@testable import BluetoothLE

@Suite("GATT client sessions", .timeLimit(.minutes(30)))
struct ClientSessionTests {
    @Test("A session reports results and notifications in the order in which they happened")
    func order() async throws {
        let scene = try await Scene()
        let session = try scene.connection.openSession()
        let dynamic = try scene.remote(Scene.dynamic)
        let (subscription, subscriber) = try await scene.subscribe(to: Scene.notified)
        defer { withExtendedLifetime(subscription) {} }
        // Before it answers, or after that, the peer notifies what was written.
        let requests = try scene.local(Scene.dynamic).events
        let peer = Task {
            for try await case .writeRequested(let request) in requests {
                let value = request.parts[0].value
                if value[0] % 3 == 0 { try await subscriber.notify(value) }
                try await request.accept()
                if value[0] % 3 != 0 { try await subscriber.notify(value) }
            }
        }
        defer { peer.cancel() }
        for number in 0..<30 { session.begin(.write(dynamic.valueHandle, [UInt8(number)]), as: number) }
        let seen = try await session.events.prefix(count: 60).map { event in
            switch event {
            case .ended(let number, .success(.written)): "ended \(number)"
            case .value(let value, _): "value \(value[0])"
            case .ended, .mtuChanged: "\(event)"
            }
        }
        #expect(
            seen
                == (0..<30).flatMap { number in
                    let pair = ["ended \(number)", "value \(number)"]
                    return number % 3 == 0 ? pair.reversed() : pair
                })
    }

    @Test("An operation that cannot begin ends with its error")
    func refused() async throws {
        let scene = try await Scene()
        let session = try scene.connection.openSession()
        session.begin(
            .writeLong(try scene.remote(Scene.stored).valueHandle, Array(repeating: 0, count: 513)), as: 7)
        guard case .ended(7, .failure(let error))? = try await session.events.first() else {
            Issue.record("something else happened")
            return
        }
        #expect(error == .valueTooLong(maximum: 512))
    }

    @Test("Each session receives every value, but only its own results")
    func several() async throws {
        let scene = try await Scene()
        let sessions = [try scene.connection.openSession(), try scene.connection.openSession()]
        let handle = try scene.remote(Scene.stored).valueHandle
        let (subscription, subscriber) = try await scene.subscribe(to: Scene.notified)
        defer { withExtendedLifetime(subscription) {} }
        sessions[0].begin(.readLong(handle), as: 1)
        sessions[1].begin(.write(handle, [9]), as: 1)
        for (session, expected) in zip(sessions, [GATTClientResult.value([1, 2, 3]), .written]) {
            let event = try await session.events.first()
            guard case .ended(1, .success(expected))? = event else {
                Issue.record("\(String(describing: event))")
                return
            }
        }
        try await subscriber.notify([5])
        for session in sessions {
            let event = try await session.events.first()
            guard case .value([5], _)? = event else {
                Issue.record("\(String(describing: event))")
                return
            }
        }
    }

    @Test("A session ends with its link, and cannot be opened on a link that has ended")
    func end() async throws {
        let scene = try await Scene()
        let session = try scene.connection.openSession()
        try await scene.connection.disconnect()
        session.begin(.read(1), as: 1)
        #expect(await session.events.end() == .disconnected(.byThisDevice))
        #expect(throws: BluetoothError.disconnected(.byThisDevice)) { try scene.connection.openSession() }
    }

    @Test("One sequence reports the events of several services' characteristics in order")
    func characteristicEvents() async throws {
        let scene = try await Scene()
        let events = scene.peripheral.characteristicEvents()
        let value = GATTCharacteristicDefinition(
            uuid: Scene.stored, properties: .writeWithoutResponse, value: .variableLength([]))
        let first = try await scene.peripheral.publish(.init(uuid: "F0F0", characteristics: [value]), events: events)
        let second = try await scene.peripheral.publish(.init(uuid: "F0F1", characteristics: [value]), events: events)
        let handles = [first, second].map { $0.characteristics[0].handle }
        for number in 0..<20 {
            let characteristic = DiscoveredCharacteristic(
                uuid: Scene.stored, declarationHandle: 1, valueHandle: handles[number % 2], endHandle: 1,
                properties: .writeWithoutResponse)
            try await scene.connection.writeWithoutResponse([UInt8(number)], to: characteristic)
        }
        for (number, event) in try await events.prefix(count: 20).enumerated() {
            guard case .written([UInt8(number)], handles[number % 2], _) = event else {
                Issue.record("\(number): \(event)")
                return
            }
        }
        // It goes on when one of them is gone.
        try await first.withdraw()
        let characteristic = DiscoveredCharacteristic(
            uuid: Scene.stored, declarationHandle: 1, valueHandle: handles[1], endHandle: 1,
            properties: .writeWithoutResponse)
        try await scene.connection.writeWithoutResponse([99], to: characteristic)
        guard case .written([99], handles[1], _)? = try await events.first() else {
            Issue.record("the sequence has ended")
            return
        }
    }
}
