import BluetoothATT
import BluetoothBase
import BluetoothHost

/// Notifications over an enhanced ATT bearer on an encrypted link, for comparison with the fixed channel.
enum Enhanced {
    /// A bonded pair whose central has subscribed over the first of its enhanced bearers, 0x0040 on both sides.
    private static func subscribed(buffers: UInt8 = 8) -> Laboratory {
        var laboratory = Laboratory(buffers: buffers, isBonded: true)
        let bearers = laboratory.world.hosts[Laboratory.central].enhancedBearers(
            of: laboratory.link(Laboratory.central))
        guard let bearer = bearers.first else { fatalError("there is no enhanced bearer") }
        laboratory.subscribe(over: bearer)
        return laboratory
    }

    static func receiveNotifications(_ count: Int, length: Int) -> Int {
        let laboratory = subscribed()
        let packet = Packets.sdu([0x1B] + laboratory.value.octets + Array(repeating: 7, count: length))
        var host = laboratory.world.hosts[Laboratory.central], sum = 0
        let event = Packets.completed(1)
        for _ in 0..<count {
            host.receive(packet.span, at: laboratory.now)
            drain(&host.events) { value in sum += value.count }
            // The host has returned credits to the peer. The controller reports that it has sent them.
            guard !host.outbox.isEmpty else { continue }
            _ = drain(&host.outbox)
            host.receive(event.span, at: laboratory.now)
        }
        precondition(sum == count * length)
        return sum
    }

    static func notify(_ count: Int, length: Int) -> Int {
        let buffers: UInt8 = 255
        let laboratory = subscribed(buffers: buffers)
        var host = laboratory.world.hosts[Laboratory.peripheral], sum = 0
        let handle = laboratory.value, link = laboratory.link(Laboratory.peripheral)
        let value = [UInt8](repeating: 7, count: length), event = Packets.completed(Int(buffers))
        // The peer grants all credits in advance: a packet that grants a few costs no more than one that grants many.
        host.receive(Packets.credits(60_000).span, at: laboratory.now)
        for index in 1...count {
            guard (try? host.notify(handle, value: value.span, on: link)) == true else { fatalError("refused") }
            sum += drain(&host.outbox)
            if index % Int(buffers) == 0 { host.receive(event.span, at: laboratory.now) }
        }
        precondition(sum == count * (14 + length))
        return sum
    }
}

extension AttributeHandle {
    fileprivate var octets: [UInt8] { [UInt8(truncatingIfNeeded: rawValue), UInt8(truncatingIfNeeded: rawValue >> 8)] }
}
