import BluetoothBase
import BluetoothHost
import BluetoothL2CAP
import BluetoothSimulation

/// The benchmarks of a credit-based channel: SDUs of 986 octets, each in four K-frames of 247 octets.
enum Channels {
    static let sduLength = 986, mps = 247
    private static let parameters = ChannelParameters(mtu: UInt16(sduLength), mps: UInt16(mps), window: 64)

    /// Returns a laboratory in which the central has opened a channel, with the peripheral's link and channel.
    private static func open(buffers: UInt8) -> (Laboratory, LinkIdentifier, CreditBasedChannel.ID) {
        var laboratory = Laboratory(buffers: buffers)
        let link = laboratory.link(Laboratory.peripheral)
        guard
            (try? laboratory.world.hosts[0].listen(on: 0x80, listener: ChannelListener(parameters: parameters))) != nil,
            (try? laboratory.world.hosts[1].openChannel(
                to: 0x80, parameters: parameters, on: laboratory.link(Laboratory.central), at: laboratory.now)) != nil
        else { fatalError("no channel") }
        let opened = laboratory.world.next(Laboratory.peripheral) { seen -> CreditBasedChannel.ID? in
            if case .channel(_, .opened(let id, _, by: .peer)) = seen.event { id } else { nil }
        }
        guard let channel = opened else { fatalError("the channel was refused") }
        laboratory.world.run(for: .seconds(1))
        return (laboratory, link, channel)
    }

    /// The peer sends SDUs, and the application consumes them.
    static func receive(_ count: Int) -> Int {
        let (laboratory, link, channel) = open(buffers: 8)
        var host = laboratory.world.hosts[Laboratory.peripheral], sum = 0
        let sdu = Array(repeating: UInt8(7), count: sduLength)
        var packets = packet([UInt8(sduLength & 0xFF), UInt8(sduLength >> 8)] + sdu[..<(mps - 2)])
        let packetLength = packets.count
        for start in stride(from: mps - 2, to: sduLength, by: mps) { packets += packet(sdu[start..<(start + mps)]) }
        for _ in 0..<count {
            var start = 0
            while start < packets.count {
                host.receive(packets.span.extracting(start..<(start + packetLength)), at: laboratory.now)
                start += packetLength
                if !host.outbox.isEmpty { _ = drain(&host.outbox) }
            }
            drain(&host.events) { value in sum += value.count }
            host.consume(sduLength, of: channel, on: link)
            // The host has returned credits to the peer. The controller reports that it has sent them.
            guard !host.outbox.isEmpty else { continue }
            _ = drain(&host.outbox)
            host.receive(Packets.completed(1).span, at: laboratory.now)
        }
        precondition(sum == count * sduLength)
        return sum
    }

    /// The application sends SDUs, and the controller reports the packets as sent at intervals.
    static func send(_ count: Int) -> Int {
        let (laboratory, link, channel) = open(buffers: 255)
        var host = laboratory.world.hosts[Laboratory.peripheral], sum = 0, frames = 0
        let sdu = Array(repeating: UInt8(7), count: sduLength)
        let credits = packet([0x16, 1, 4, 0, 0x40, 0, 60, 0], to: 0x05)
        for index in 0..<count {
            if index % 15 == 0 {
                if frames > 0 { host.receive(Packets.completed(frames).span, at: laboratory.now) }
                host.receive(credits.span, at: laboratory.now)
                frames = 0
            }
            guard (try? host.send(sdu, over: channel, on: link)) == true else { fatalError("not sent") }
            frames += 4
            sum += drain(&host.outbox)
        }
        return sum
    }

    private static func packet(_ payload: some Collection<UInt8>, to channel: UInt16 = 0x40) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(UInt8(0x02))
        writer.append(UInt16(0x2040))
        writer.append(UInt16(payload.count + 4))
        writer.append(UInt16(payload.count))
        writer.append(channel)
        writer.append(Array(payload))
        return writer.bytes
    }
}
