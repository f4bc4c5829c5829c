import BluetoothBase
import BluetoothHost
import BluetoothL2CAP
import BluetoothSimulation
import Testing
import VirtualRadio

@Suite("Credit-based channels between hosts")
struct ChannelWorldTests {
    var world = HostWorld()

    /// Two hosts with a channel between them that the central has asked for.
    private mutating func open(_ parameters: ChannelParameters) throws -> (Ends, Ends) {
        let peripheral = world.start(), central = world.start()
        let connected = world.connect(central, to: peripheral)
        let pair = try #require(connected)
        let psm = try world.hosts[peripheral].listen(on: nil, listener: ChannelListener(parameters: parameters))
        let channel = try world.hosts[central].openChannel(
            to: psm, parameters: parameters, on: pair.centralLink, at: world.now)
        let opened = world.next(peripheral) { seen -> CreditBasedChannel.ID? in
            if case .channel(_, .opened(let id, _, by: .peer)) = seen.event { id } else { nil }
        }
        let other = try #require(opened)
        let isOpen = world.next(central) { seen -> Bool? in
            if case .channel(_, .opened(channel, _, by: .thisDevice)) = seen.event { true } else { nil }
        }
        #expect(isOpen == true)
        return (
            Ends(host: central, link: pair.centralLink, channel: channel),
            Ends(host: peripheral, link: pair.peripheralLink, channel: other)
        )
    }

    struct Ends {
        var host: Int
        var link: LinkIdentifier
        var channel: CreditBasedChannel.ID
    }

    /// Sends SDUs until the channel takes no more; how many it took.
    private mutating func fill(_ end: Ends, _ sdu: [UInt8]) throws -> Int {
        var count = 0
        while count < 1000, try world.hosts[end.host].send(sdu, over: end.channel, on: end.link) { count += 1 }
        return count
    }

    private mutating func received(_ end: Ends) -> [[UInt8]] {
        defer { world.seen[end.host].removeAll() }
        return world.seen[end.host].compactMap { seen in
            if case .channel(_, .received(end.channel, _)) = seen.event { seen.bytes } else { nil }
        }
    }

    @Test(
        "data arrives complete and in order, whatever the lengths",
        arguments: [
            ChannelParameters(), ChannelParameters(mtu: 64, mps: 64, window: 1),
            ChannelParameters(mtu: 65535, mps: 100, window: 3), ChannelParameters(mtu: 1000, mps: 517, window: 100),
        ])
    mutating func stream(_ parameters: ChannelParameters) throws {
        let (central, peripheral) = try open(parameters)
        var generator = SeededGenerator(seed: 5)
        for (sender, receiver) in [(central, peripheral), (peripheral, central)] {
            var sent: [UInt8] = [], got: [UInt8] = []
            for _ in 0..<60 {
                let length = Int.random(in: 1...min(3000, Int(parameters.mtu)), using: &generator)
                let sdu = (0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) }
                while try !world.hosts[sender.host].send(sdu, over: sender.channel, on: sender.link) {
                    world.run(for: .milliseconds(30))
                    for sdu in received(receiver) {
                        got += sdu
                        world.hosts[receiver.host].consume(sdu.count, of: receiver.channel, on: receiver.link)
                    }
                }
                sent += sdu
            }
            for _ in 0..<400 where got.count < sent.count {
                world.run(for: .milliseconds(30))
                for sdu in received(receiver) {
                    got += sdu
                    world.hosts[receiver.host].consume(sdu.count, of: receiver.channel, on: receiver.link)
                }
            }
            #expect(got == sent)
        }
    }

    @Test("a reader that consumes nothing blocks its sender, but not the other direction of the link")
    mutating func slowReader() throws {
        let (central, peripheral) = try open(ChannelParameters(mtu: 100, mps: 102, window: 8))
        let sdu = [UInt8](repeating: 1, count: 100)
        var sent = 0
        for _ in 0..<20 {
            sent += try fill(central, sdu)
            world.run(for: .milliseconds(200))
        }
        // Eight SDUs are at the peer, which has not read them, and the queue is full.
        #expect(received(peripheral).count == 8)
        #expect(sent == 8 + CreditBasedChannels.sendLimit)
        #expect(try fill(peripheral, sdu) >= CreditBasedChannels.sendLimit)
        world.run(for: .milliseconds(200))
        #expect(received(central).count == 8)
        for _ in 0..<8 { world.hosts[peripheral.host].consume(100, of: peripheral.channel, on: peripheral.link) }
        world.run(for: .milliseconds(500))
        #expect(received(peripheral).count == 8)
    }
}
