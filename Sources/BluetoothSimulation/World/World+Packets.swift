import BluetoothBase
import BluetoothHCI
import VirtualRadio

/// Packets between hosts and controllers.
extension World {
    /// Whether there is something for a host to receive.
    func hasPackets(for index: Int) -> Bool {
        guard stations[index].host != nil, !stations[index].hasDeclined,
            stations[index].stalledUntil.map({ $0 <= now }) ?? true
        else { return false }
        return !air[stations[index].controller].outbox.isEmpty || stations[index].wire.hasPackets(at: now)
    }

    func send(_ packet: Span<UInt8>, from index: Int) {
        if stations[index].wire.isMiscounting { stations[index].inspector.isMiscounting = true }
        record(packet, .toController, index)
        if let violation = stations[index].inspector.sent(packet), isPlain(violation.rule) {
            fail(violation.rule, violation.text, at: station(index))
        }
        if let security = stations[index].security, let violation = security.sent(packet), isPlain(violation.rule) {
            fail(violation.rule, violation.text, at: station(index))
        }
        let controller = stations[index].controller
        if !stations[index].wire.isFaulty || stations[index].wire.take(packet, .toController, at: now) {
            return air.receive(packet, from: controller, at: now)
        }
        deliverToController(index)
    }

    /// Whether a rule can be checked: where packets were cut, the inspector takes other octets for opcodes than the host.
    private func isPlain(_ rule: Violation.Rule) -> Bool {
        switch rule {
        case .oneRequest, .oneIndication, .mtu, .wellFormed, .protection, .bond:
            !stations.contains { $0.wire.isTainted }
        default: true
        }
    }

    /// Hands the controller what is due.
    func deliverToController(_ index: Int) {
        while let packet = stations[index].wire.next(.toController, at: now) {
            air.receive(packet.span, from: stations[index].controller, at: now)
        }
    }

    func receive(into packets: inout PacketQueue, at index: Int) {
        let controller = stations[index].controller
        air.fire(at: now)
        stations[index].hasDeclined = false
        stations[index].inspector.beginTurn()
        stations[index].security?.beginTurn()
        if stations[index].wire.isFaulty {
            return receiveOne(into: &packets, at: index)
        }
        guard !air[controller].outbox.isEmpty else { return }
        swap(&air[controller].outbox, &packets)
        packets.forEach { received($0, at: index) }
    }

    /// One packet a turn: what the host sends in answer then follows it, and not what came behind it.
    private func receiveOne(into packets: inout PacketQueue, at index: Int) {
        let controller = stations[index].controller
        deliverToController(index)
        while !air[controller].outbox.isEmpty {
            if stations[index].wire.take(air[controller].outbox.first, .toHost, at: now) {
                stations[index].wire.keepForHost(air[controller].outbox.first)
            }
            air[controller].outbox.removeFirst()
        }
        guard let packet = stations[index].wire.next(.toHost, at: now) else { return }
        received(packet.span, at: index)
        packets.append(packet.span)
    }

    private func received(_ packet: Span<UInt8>, at index: Int) {
        record(packet, .toHost, index)
        stations[index].security?.received(packet)
        if let violation = stations[index].inspector.received(packet),
            isPlain(violation.rule), violation.rule != .wellFormed || !stations[index].wire.changesCommands
        {
            fail(violation.rule, violation.text, at: station(index))
        }
    }

    private func record(_ packet: Span<UInt8>, _ direction: PacketDirection, _ index: Int) {
        packetCount += 1
        digest.add(now.nanoseconds ^ UInt64(index) << 56 ^ (direction == .toHost ? 1 << 63 : 0))
        digest.add(packet)
        observePacket?(station(index), direction, packet)
    }

    /// Resets a controller whose host has left, for the next one.
    func reset(_ index: Int) {
        var writer = ByteWriter()
        Reset().encodePacket(into: &writer)
        let controller = stations[index].controller
        air.receive(writer.span, from: controller, at: now)
        air[controller].outbox.removeAll()
        stations[index].wire.clear()
        stations[index].inspector.reset()
        stations[index].security?.reset()
    }
}
