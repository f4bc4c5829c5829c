import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost
import BluetoothSimulation
import Testing
import VirtualRadio

@Suite("Serving values")
struct ServingTests {
    /// A peripheral with a value the application answers for, and a central connected to it.
    struct Scene {
        var world = HostWorld()
        var pair: HostWorld.Pair
        var value: AttributeHandle

        init() throws {
            let peripheral = world.start(), central = world.start()
            value = try Self.publish(on: &world.hosts[peripheral])
            let connected = world.connect(central, to: peripheral)
            pair = try #require(connected)
            world.run(for: .seconds(1))
            world.seen[central].removeAll()
            world.seen[peripheral].removeAll()
        }

        static func publish(on host: inout Host) throws -> AttributeHandle {
            let handles = try host.server.database.add(
                GATTServiceDefinition(
                    uuid: HostWorld.service,
                    characteristics: [
                        GATTCharacteristicDefinition(
                            uuid: HostWorld.characteristic,
                            properties: [.read, .write, .writeWithoutResponse, .notify, .indicate], value: .dynamic)
                    ]))
            return handles.characteristics[0].value
        }

        mutating func start(_ operation: GATTClientOperation) throws {
            _ = try world.hosts[pair.central].start(operation, on: pair.centralLink, at: world.now)
        }

        /// The next request for the application.
        mutating func nextRequest() -> (request: ServerRequest, bytes: [UInt8])? {
            world.next(pair.peripheral) { seen in
                switch seen.event {
                case .server(_, .readRequested(let request, _, _)), .server(_, .writeRequested(let request, _, _)):
                    (request, seen.bytes)
                default: nil
                }
            }
        }

        mutating func nextEnd() -> GATTClientEvent? {
            world.next(pair.central, within: .seconds(40)) {
                if case .client(_, .operationEnded(let end)) = $0.event { end } else { nil }
            }
        }
    }

    @Test("The application can answer a read 20 s later, but only once")
    func theApplicationAnswersARead() throws {
        var scene = try Scene()
        try scene.start(.read(scene.value))
        let asked = scene.nextRequest()
        let request = try #require(asked).request
        scene.world.run(for: .seconds(20))
        try scene.world.hosts[scene.pair.peripheral].answer(request, value: [1, 2, 3].span)
        let end = scene.nextEnd()
        guard case .completed(_, .value([1, 2, 3])) = end else {
            Issue.record("\(String(describing: end))")
            return
        }
        #expect(throws: HostError.server(.staleToken)) {
            try scene.world.hosts[scene.pair.peripheral].answer(request, value: [4].span)
        }
    }

    @Test("The application receives the value of a write, which completes when the application accepts it")
    func theApplicationTakesAWrite() throws {
        var scene = try Scene()
        try scene.start(.write(scene.value, [7, 8]))
        let asked = scene.nextRequest()
        let (request, bytes) = try #require(asked)
        #expect(bytes == [7, 8])
        try scene.world.hosts[scene.pair.peripheral].accept(request)
        guard case .completed(_, .written) = scene.nextEnd() else {
            Issue.record("not written")
            return
        }
    }

    @Test("A read that the application refuses fails with the error code of the application")
    func theApplicationRefuses() throws {
        var scene = try Scene()
        try scene.start(.read(scene.value))
        let asked = scene.nextRequest()
        try scene.world.hosts[scene.pair.peripheral].refuse(
            #require(asked).request, with: .insufficientAuthorization)
        guard case .failed(_, .att(let error)) = scene.nextEnd() else {
            Issue.record("not refused")
            return
        }
        #expect(error.code == .insufficientAuthorization)
    }

    @Test("A read that the application does not answer expires with Unlikely Error, and the link continues")
    func anApplicationThatDoesNotAnswerIsAnsweredFor() throws {
        var scene = try Scene()
        try scene.start(.read(scene.value))
        let asked = scene.nextRequest()
        let request = try #require(asked).request
        guard case .failed(_, .att(let error)) = scene.nextEnd() else {
            Issue.record("not refused")
            return
        }
        #expect(error.code == .unlikelyError)
        #expect(scene.world.seen[scene.pair.peripheral].map(\.event.brief) == ["request expired"])
        #expect(throws: HostError.server(.staleToken)) {
            try scene.world.hosts[scene.pair.peripheral].answer(request, value: [4].span)
        }
        // The link goes on.
        try scene.start(.read(0x0003))
        guard case .completed = scene.nextEnd() else {
            Issue.record("not read")
            return
        }
    }

    @Test("Answering a request after its link has ended throws")
    func anAnswerForALinkThatIsGoneIsRefused() throws {
        var scene = try Scene()
        try scene.start(.read(scene.value))
        let asked = scene.nextRequest()
        let request = try #require(asked).request
        try scene.world.hosts[scene.pair.central].disconnect(scene.pair.centralLink, at: scene.world.now)
        scene.world.run(for: .seconds(1))
        #expect(throws: HostError.noSuchLink) {
            try scene.world.hosts[scene.pair.peripheral].answer(request, value: [4].span)
        }
    }

    // MARK: - Notifications and indications

    @Test("The next indication is not sent until the previous one is confirmed")
    func anIndicationIsConfirmedBeforeTheNext() throws {
        var scene = try Scene()
        try scene.start(.configure(descriptor: AttributeHandle(scene.value.rawValue + 1), .indications))
        _ = scene.nextEnd()
        let link = scene.pair.peripheralLink
        for number: UInt8 in 1...3 {
            let isSent = try scene.world.hosts[scene.pair.peripheral].indicate(
                scene.value, value: [number].span, on: link, at: scene.world.now)
            #expect(isSent)
            let isSentToo = try scene.world.hosts[scene.pair.peripheral].indicate(
                scene.value, value: [0].span, on: link, at: scene.world.now)
            #expect(!isSentToo)
            let confirmed = scene.world.next(scene.pair.peripheral) { seen in
                if case .server(link, .indicationConfirmed(scene.value)) = seen.event { true } else { nil }
            }
            #expect(confirmed == true)
        }
        let received = scene.world.seen[scene.pair.central].filter { $0.event.brief.hasPrefix("indication") }
        #expect(received.map(\.bytes) == [[1], [2], [3]])
    }

    @Test("Notifying or indicating a value to a peer that has not subscribed throws")
    func nothingIsSentToAPeerThatDidNotSubscribe() throws {
        var scene = try Scene()
        #expect(throws: HostError.server(.notSubscribed(scene.value))) {
            _ = try scene.world.hosts[scene.pair.peripheral].notify(
                scene.value, value: [1].span, on: scene.pair.peripheralLink)
        }
        #expect(throws: HostError.server(.notSubscribed(scene.value))) {
            _ = try scene.world.hosts[scene.pair.peripheral].indicate(
                scene.value, value: [1].span, on: scene.pair.peripheralLink, at: scene.world.now)
        }
    }

    @Test("A subscription applies to one link only, and ends with it")
    func eachLinkHasItsOwnSubscriptions() throws {
        var scene = try Scene()
        let other = scene.world.start()
        let connected = scene.world.connect(other, to: scene.pair.peripheral)
        let second = try #require(connected)
        try scene.start(.configure(descriptor: AttributeHandle(scene.value.rawValue + 1), .notifications))
        _ = scene.nextEnd()
        #expect(throws: HostError.server(.notSubscribed(scene.value))) {
            _ = try scene.world.hosts[scene.pair.peripheral].notify(
                scene.value, value: [1].span, on: second.peripheralLink)
        }
        let isSent = try scene.world.hosts[scene.pair.peripheral].notify(
            scene.value, value: [1].span, on: scene.pair.peripheralLink)
        #expect(isSent)
        // A subscription ends with its link.
        try scene.world.hosts[scene.pair.central].disconnect(scene.pair.centralLink, at: scene.world.now)
        scene.world.run(for: .seconds(1))
        let reconnected = scene.world.connect(scene.pair.central, to: scene.pair.peripheral)
        let again = try #require(reconnected)
        #expect(throws: HostError.server(.notSubscribed(scene.value))) {
            _ = try scene.world.hosts[scene.pair.peripheral].notify(
                scene.value, value: [1].span, on: again.peripheralLink)
        }
    }

    @Test("2,000 notifications, sent as fast as the queue accepts them, arrive in order")
    func manyNotificationsArriveInOrder() throws {
        var scene = try Scene()
        try scene.start(.configure(descriptor: AttributeHandle(scene.value.rawValue + 1), .notifications))
        _ = scene.nextEnd()
        scene.world.seen[scene.pair.central].removeAll()
        let link = scene.pair.peripheralLink
        var next: UInt32 = 0
        while next < 2000 {
            let bytes = (0..<4).map { UInt8(truncatingIfNeeded: next >> (8 * $0)) } + [UInt8](repeating: 0, count: 300)
            if try scene.world.hosts[scene.pair.peripheral].notify(scene.value, value: bytes.span, on: link) {
                next += 1
            } else {
                let isReady = scene.world.next(scene.pair.peripheral) { seen in
                    if case .link(link, .readyToSend) = seen.event { true } else { nil }
                }
                #expect(isReady == true)
            }
        }
        scene.world.run(for: .seconds(5))
        let numbers = scene.world.seen[scene.pair.central].map { seen in
            (0..<4).reduce(UInt32(0)) { $0 | UInt32(seen.bytes[$1]) << (8 * UInt32($1)) }
        }
        #expect(numbers == Array(0..<2000))
    }

    @Test("A burst of 20,000 values waits at the peer while its receiver is held, and arrives complete and in order")
    func aBurstToAHeldReceiver() throws {
        var scene = try Scene()
        try scene.start(.configure(descriptor: AttributeHandle(scene.value.rawValue + 1), .notifications))
        _ = scene.nextEnd()
        let (central, link) = (scene.pair.central, scene.pair.peripheralLink)
        scene.world.seen[central].removeAll()
        scene.world.hosts[central].holdReceiving(of: scene.pair.centralLink)
        let count: UInt32 = 20_000
        var next: UInt32 = 0
        func send(for steps: Int) throws {
            for _ in 0..<steps where next < count {
                while next < count {
                    let bytes = (0..<4).map { UInt8(truncatingIfNeeded: next >> (8 * $0)) }
                    let isSent = try scene.world.hosts[scene.pair.peripheral].notify(
                        scene.value, value: bytes.span, on: link)
                    guard isSent else { break }
                    next += 1
                }
                scene.world.run(for: .milliseconds(100))
            }
        }
        try send(for: 600)
        // What the host has room for, and what waits in the two controllers and at the peer.
        #expect((1...Int(HostConfiguration(seed: 0).receiveBufferCount)).contains(scene.world.seen[central].count))
        #expect(next < 500)
        scene.world.hosts[central].resumeReceiving(of: scene.pair.centralLink)
        try send(for: 10_000)
        scene.world.run(for: .seconds(5))
        let numbers = scene.world.seen[central].map { seen in
            seen.bytes.count < 4 ? nil : (0..<4).reduce(UInt32(0)) { $0 | UInt32(seen.bytes[$1]) << (8 * UInt32($1)) }
        }
        #expect(numbers == Array(0..<count))
    }

    // MARK: - Both roles

    @Test("Both ends can be client and server on the same link at the same time")
    func bothEndsAreClientAndServerOnOneLink() throws {
        var scene = try Scene()
        let value = try Scene.publish(on: &scene.world.hosts[scene.pair.central])
        let operation = GATTClientOperation.read(value)
        _ = try scene.world.hosts[scene.pair.peripheral].start(
            operation, on: scene.pair.peripheralLink, at: scene.world.now)
        try scene.start(.read(scene.value))
        var requests: [(Int, ServerRequest)] = []
        for index in [scene.pair.central, scene.pair.peripheral] {
            let request: ServerRequest? = scene.world.next(index) {
                if case .server(_, .readRequested(let request, _, _)) = $0.event { request } else { nil }
            }
            requests.append((index, try #require(request)))
        }
        for (index, request) in requests {
            try scene.world.hosts[index].answer(request, value: [UInt8(index)].span)
        }
        scene.world.run(for: .seconds(1))
        for index in [scene.pair.central, scene.pair.peripheral] {
            let ends = scene.world.seen[index].map(\.event.brief)
            #expect(ends == ["operation completed"])
        }
    }
}
