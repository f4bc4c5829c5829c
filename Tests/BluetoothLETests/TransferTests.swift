import BluetoothGATT
import BluetoothLE
import Testing
import VirtualRadio

/// How messages in chunks end when one side does not do its part.
@Suite("Incomplete transfers")
struct TransferTests {
    /// A central that is connected, and what the peripheral has to say who subscribed.
    struct Pair {
        let sender: Adapter
        let receiver: Adapter
        let events: EventSequence<CharacteristicEvent>
        let connection: Connection
        let characteristic: DiscoveredCharacteristic

        init() async throws {
            let radio = VirtualRadio()
            sender = try await Adapter.open(radio.addController())
            receiver = try await Adapter.open(radio.addController())
            let service = try await sender.publish(
                GATTServiceDefinition(
                    uuid: CardTests.service,
                    characteristics: [
                        GATTCharacteristicDefinition(uuid: CardTests.characteristic, properties: .notify)
                    ]))
            events = service.characteristics[0].events
            var advertisement = AdvertisementData()
            advertisement.serviceUUIDs = [CardTests.service]
            try await sender.advertise(advertisement)
            let sighting = try await receiver.firstSighting(for: ScanFilter(services: [CardTests.service]))
            connection = try await receiver.connect(to: sighting.address)
            characteristic = try await connection.characteristic(CardTests.characteristic, in: CardTests.service)
        }

        func close() async {
            await receiver.close()
            await sender.close()
        }

        /// The next to subscribe.
        func subscriber() async throws -> Subscriber? {
            for try await case .subscribed(let subscriber) in events { return subscriber }
            return nil
        }
    }

    /// Receives a message, by a clock that stands still until the message has come so far and the call waits for more.
    private func receive(
        _ pair: Pair, until isFar: @escaping (_ octets: Int) -> Bool, thenAfter duration: Duration,
        maximumSize: Int = ChunkedMessage.defaultMaximumSize, idleTimeout: Duration = .seconds(30),
        timeLimit: Duration = .seconds(3600)
    ) async -> (error: BluetoothError?, octets: Int) {
        let clock = SteppedClock(), received = Record<Int>()
        let receiving = Task {
            await TimeLimits.$clock.withValue(clock) { () async -> BluetoothError? in
                do throws(BluetoothError) {
                    _ = try await pair.connection.receiveMessage(
                        from: pair.characteristic, maximumSize: maximumSize, idleTimeout: idleTimeout,
                        timeLimit: timeLimit
                    ) { received.add($0) }
                    return nil
                } catch {
                    return error
                }
            }
        }
        await until { clock.isAwaited && isFar(received.all.last ?? 0) }
        clock.advance(by: duration)
        return (await receiving.value, received.all.last ?? 0)
    }

    @Test("A receiver waits for a stalled sender until the idle timeout", arguments: [0, 3])
    func stall(chunks: Int) async throws {
        let pair = try await Pair()
        let sending = Task {
            guard let subscriber = try await pair.subscriber() else { return }
            for _ in 0..<chunks { try await subscriber.notify([1, 2, 3]) }
        }
        let idleTimeout = Duration.milliseconds(300)
        let end = await receive(
            pair, until: { $0 == 3 * chunks }, thenAfter: idleTimeout, idleTimeout: idleTimeout)
        #expect(end.error == .messageIncomplete(octetsReceived: 3 * chunks, interruption: .stalled(idleTimeout)))
        try await sending.value
        #expect(pair.receiver.connections == [pair.connection], "the link is not to blame")
        await pair.close()
    }

    /// Sends the same value again and again, as long as somebody is subscribed.
    private static func repeating(_ value: [UInt8], to subscriber: Subscriber?) async throws {
        do throws(BluetoothError) {
            while let subscriber { try await subscriber.notify(value) }
        } catch { guard error.code == .notSubscribed else { throw error } }
    }

    @Test("Empty notifications do not count as progress", .timeLimit(.minutes(30)))
    func empty() async throws {
        let pair = try await Pair()
        let sending = Task {
            let subscriber = try await pair.subscriber()
            try await subscriber?.notify([1, 2, 3])
            try await Self.repeating([], to: subscriber)
        }
        let idleTimeout = Duration.milliseconds(300)
        let end = await receive(pair, until: { $0 == 3 }, thenAfter: idleTimeout, idleTimeout: idleTimeout)
        #expect(end.error == .messageIncomplete(octetsReceived: 3, interruption: .stalled(idleTimeout)))
        try await sending.value
        await pair.close()
    }

    @Test("A message that never ends fails at the time limit", .timeLimit(.minutes(30)))
    func endless() async throws {
        let pair = try await Pair()
        let sending = Task { try await Self.repeating([7], to: try await pair.subscriber()) }
        let timeLimit = Duration.milliseconds(300)
        let end = await receive(
            pair, until: { $0 > 0 }, thenAfter: timeLimit, maximumSize: .max, timeLimit: timeLimit)
        guard case .messageIncomplete(let count, .tooSlow(timeLimit)) = end.error?.kind else {
            Issue.record("\(String(describing: end.error))")
            return
        }
        #expect(count > 0 && count == end.octets)
        try await sending.value
        await pair.close()
    }

    @Test("A complete message is returned even if the link has ended")
    func linkLostAfterEnd() async throws {
        let pair = try await Pair()
        let sending = Task {
            guard let subscriber = try await pair.subscriber() else { return }
            try await subscriber.sendMessage([1, 2, 3])
            for try await case .unsubscribed in pair.events { break }
            try await subscriber.connection.disconnect()
        }
        #expect(try await pair.connection.receiveMessage(from: pair.characteristic) == [1, 2, 3])
        try await sending.value
        await pair.close()
    }

    @Test("A cancelled sender sends nothing more, not even the end of the message")
    func cancelledSender() async throws {
        let pair = try await Pair()
        let values = try await pair.connection.notifications(of: pair.characteristic)
        let subscriber = try #require(try await pair.subscriber())
        let sending = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await subscriber.sendMessage([1, 2, 3])
        }
        await #expect(throws: BluetoothError.cancelled) { try await sending.value }
        try await subscriber.notify([9])
        #expect(try await values.first() == [9])
        await pair.close()
    }
}
