import BluetoothLE
import CoreBluetooth
import Testing
import VirtualRadio

@Suite("G: value updates", .timeLimit(.minutes(30)))
struct UpdateTests {
    private static let capacity = PeripheralScene.capacity

    private let notified = CBMutableCharacteristic("F001", .notify)
    private let indicated = CBMutableCharacteristic("F002", .indicate)
    private let read = CBMutableCharacteristic("F00F", .read)

    /// A central that is subscribed to a characteristic, as both sides have it.
    private struct Subscriber {
        let link: Connection
        let values: EventSequence<[UInt8]>
        let central: CBCentral
    }

    private func subscribe(
        _ scene: PeripheralScene, to characteristic: CBMutableCharacteristic, from link: Connection? = nil
    ) async throws -> Subscriber {
        let link = if let link { link } else { try await scene.central() }
        let uuid = try #require(BluetoothUUID(characteristic.uuid.uuidString))
        let known = characteristic.subscribedCentrals ?? []
        let values = try await link.notifications(of: try await link.characteristic(uuid))
        await scene.recorder.expect("subscribed \(uuid)")
        let central = try #require(characteristic.subscribedCentrals?.first { !known.contains($0) })
        return Subscriber(link: link, values: values, central: central)
    }

    @Test("Row 74: an update goes to all subscribers, or to the named ones")
    func receivers() async throws {
        let scene = await PeripheralScene(notified, indicated)
        let first = try await subscribe(scene, to: notified), second = try await subscribe(scene, to: notified)
        let stranger = try await subscribe(scene, to: indicated)
        func update(_ number: UInt8, _ centrals: [CBCentral]?) {
            #expect(scene.manager.updateValue(Data([number]), for: notified, onSubscribedCentrals: centrals))
        }
        update(1, nil)
        update(2, [first.central])
        update(3, [second.central])
        update(4, [stranger.central])
        update(5, [])
        update(6, [stranger.central, second.central, first.central])
        #expect(try await first.values.next(3) == [[1], [2], [6]])
        #expect(try await second.values.next(3) == [[1], [3], [6]])
        #expect(scene.manager.updateValue(Data([7]), for: indicated, onSubscribedCentrals: nil))
        #expect(try await stranger.values.next(1) == [[7]])
        #expect(notified.value == nil && indicated.value == nil, "an update is not a value that stays")
    }

    @Test("Row 74: an update without subscribers is accepted and has no effect")
    func nobody() async throws {
        let scene = await PeripheralScene(notified, read)
        for _ in 0..<100 {
            #expect(scene.manager.updateValue(Data([1]), for: notified, onSubscribedCentrals: nil))
        }
        try await scene.settle(try await scene.central(), "F00F")
        #expect(!scene.recorder.all.contains("ready"))
    }

    @Test(
        "Row 74: an update that is too long is truncated",
        arguments: [(23, 20), (64, 61), (517, 512)] as [(UInt16, Int)], [true, false])
    func cutOff(_ lengths: (mtu: UInt16, value: Int), _ isNotified: Bool) async throws {
        let scene = await PeripheralScene(notified, indicated)
        let characteristic = isNotified ? notified : indicated
        let subscriber = try await subscribe(
            scene, to: characteristic, from: try await scene.central(mtu: lengths.mtu))
        #expect(subscriber.central.maximumUpdateValueLength == lengths.value)
        let value = Data((0..<600).map { UInt8(truncatingIfNeeded: $0) })
        #expect(scene.manager.updateValue(value, for: characteristic, onSubscribedCentrals: nil))
        #expect(scene.manager.updateValue(Data(), for: characteristic, onSubscribedCentrals: nil))
        #expect(try await subscriber.values.next(2) == [[UInt8](value.prefix(lengths.value)), []])
    }

    @Test("Row 74: a central that subscribed to indications receives them")
    func wantsIndications() async throws {
        let both = CBMutableCharacteristic("F003", [.notify, .indicate])
        let scene = await PeripheralScene(both)
        let link = try await scene.central()
        let characteristic = try await link.characteristic("F003")
        let descriptors = try await link.discoverDescriptors(of: characteristic)
        let descriptor = try #require(descriptors.first { $0.uuid == .clientCharacteristicConfiguration })
        let session = try link.openSession()
        session.begin(.configure(descriptor: descriptor.handle, .indications), as: 1)
        await scene.recorder.expect("subscribed F003")
        for number in 0..<3 as Range<UInt8> {
            #expect(scene.manager.updateValue(Data([number]), for: both, onSubscribedCentrals: nil))
        }
        var values: [[UInt8]] = []
        for try await event in session.events {
            if case .value(let value, characteristic.valueHandle) = event { values.append(value) }
            if values.count == 3 { break }
        }
        #expect(values == [[0], [1], [2]])
    }

    @Test("Row 75: an update is refused when the queue is full, and one ready callback follows")
    func room() async throws {
        let scene = await PeripheralScene(notified, indicated, read)
        let subscriber = try await subscribe(scene, to: notified)
        for round in 0..<3 as Range<UInt8> {
            // Room is made while this goes on, but an air is slower than a loop.
            let count = await scene.recorder.onQueue { [notified] in
                (0..<10_000).prefix { number in
                    let value = Data([round, UInt8(number >> 8), UInt8(number & 0xFF)])
                    return scene.manager.updateValue(value, for: notified, onSubscribedCentrals: nil)
                }.count
            }
            // When it is told that there is room, half of it may still wait to be sent.
            #expect((round == 0 ? Self.capacity : Self.capacity / 2)..<10_000 ~= count)
            await scene.recorder.expect("ready")
            let sent = (0..<count).map { [round, UInt8($0 >> 8), UInt8($0 & 0xFF)] }
            #expect(try await subscriber.values.next(count) == sent)
        }
        try await scene.settle(subscriber.link, "F00F")
        #expect(scene.recorder.all.count { $0 == "ready" } == 3)
        // Whoever was not refused is not told.
        for _ in 0..<10 {
            #expect(scene.manager.updateValue(Data([9]), for: notified, onSubscribedCentrals: nil))
        }
        _ = try await subscriber.values.next(10)
        try await scene.settle(subscriber.link, "F00F")
        #expect(scene.recorder.all.count { $0 == "ready" } == 3)
    }

    @Test("Row 75: a delegate that blocks its queue until there is room blocks only itself, and all updates are sent")
    func trying() async throws {
        let scene = await PeripheralScene(notified)
        let subscriber = try await subscribe(scene, to: notified)
        let arrivals = Arrivals()
        let received = Task {
            var values: [[UInt8]] = []
            for try await value in subscriber.values {
                values.append(value)
                arrivals.add()
                if values.count == 500 { break }
            }
            return values
        }
        await scene.recorder.onQueue { [notified] in
            for number in 0..<500 {
                let value = Data([UInt8(number >> 8), UInt8(number & 0xFF)])
                let isTaken = arrivals.retry(after: number) {
                    scene.manager.updateValue(value, for: notified, onSubscribedCentrals: nil)
                }
                #expect(isTaken)
                if !isTaken { break }
            }
        }
        #expect(try await received.value == (0..<500).map { [UInt8($0 >> 8), UInt8($0 & 0xFF)] })
    }

    /// A central that is subscribed to indications and does not confirm them, and the port it is at.
    private func mute(_ scene: PeripheralScene) async throws -> (Subscriber, VirtualRadio.Port) {
        let port = scene.stage.radio.addController()
        let mute = try await subscribe(scene, to: indicated, from: try await scene.link(from: port))
        scene.stage.radio.withAir { air, _ in air[port.identifier].faults.isSilent = true }
        return (mute, port)
    }

    @Test("Row 75: an update goes to all of its receivers or to none")
    func allOrNone() async throws {
        let scene = await PeripheralScene(indicated, read)
        let prompt = try await subscribe(scene, to: indicated)
        let (mute, _) = try await mute(scene)
        for _ in 0..<Self.capacity {
            #expect(scene.manager.updateValue(Data([1]), for: indicated, onSubscribedCentrals: [mute.central]))
        }
        for _ in 0..<2 * Self.capacity {
            #expect(!scene.manager.updateValue(Data([2]), for: indicated, onSubscribedCentrals: nil))
        }
        // What was refused has taken none of the room of the others.
        for number in 0..<UInt8(Self.capacity) {
            #expect(scene.manager.updateValue(Data([number]), for: indicated, onSubscribedCentrals: [prompt.central]))
        }
        #expect(try await prompt.values.next(Self.capacity) == (0..<UInt8(Self.capacity)).map { [$0] })
        #expect(!scene.recorder.all.contains("ready"))
    }

    @Test("Row 75: a central that does not confirm delays no other; its disconnection causes the ready callback")
    func unconfirmed() async throws {
        let scene = await PeripheralScene(notified, indicated)
        let prompt = try await subscribe(scene, to: indicated)
        let (mute, port) = try await mute(scene)
        let taken = (0...Self.capacity).map { _ in
            scene.manager.updateValue(Data([0]), for: indicated, onSubscribedCentrals: [mute.central])
        }
        #expect(taken == (0...Self.capacity).map { $0 < Self.capacity }, "an unconfirmed one keeps its place")
        for number in 0..<15 as Range<UInt8> {
            #expect(scene.manager.updateValue(Data([number]), for: indicated, onSubscribedCentrals: [prompt.central]))
        }
        #expect(try await prompt.values.next(15) == (0..<15).map { [$0] })
        scene.stage.radio.withAir { air, now in
            air.dropLinks(of: port.identifier, reason: .connectionTimeout, at: now)
        }
        await scene.recorder.expect("unsubscribed F002", "ready")
        #expect(scene.manager.updateValue(Data([99]), for: indicated, onSubscribedCentrals: nil))
        #expect(try await prompt.values.next(1) == [[99]])
    }

    @Test("Row 75: 20,000 updates arrive, in order")
    func many() async throws {
        let count: UInt32 = 20_000
        let scene = await PeripheralScene(notified)
        let subscriber = try await subscribe(scene, to: notified)
        let receiving = Task {
            var last: UInt32?
            for value in try await subscriber.values.next(Int(count)) {
                let number = value.reduce(0) { $0 << 8 | UInt32($1) }
                guard number == (last ?? UInt32.max) &+ 1 else { return last }
                last = number
            }
            return last
        }
        var number: UInt32 = 0
        while number < count, !Task.isCancelled {
            let value = withUnsafeBytes(of: number.bigEndian) { Data($0) }
            if scene.manager.updateValue(value, for: notified, onSubscribedCentrals: nil) {
                number += 1
            } else {
                await scene.recorder.expect("ready")
            }
        }
        #expect(try await receiving.value == count - 1)
    }
}

extension EventSequence {
    /// The next so many elements.
    func next(_ count: Int) async throws -> [Element] {
        var elements: [Element] = []
        var iterator = makeAsyncIterator()
        while elements.count < count, let element = try await iterator.next() { elements.append(element) }
        return elements
    }
}
