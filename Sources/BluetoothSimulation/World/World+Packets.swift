import BluetoothBase
import BluetoothHCI
import VirtualRadio

/// Packets between hosts and controllers.
extension World {
    /// Whether packets are available for a host to receive.
    func hasPackets(for index: Int) -> Bool {
        guard stations[index].host != nil, !stations[index].hasDeclined,
            stations[index].stalledUntil.map({ $0 <= now }) ?? true
        else { return false }
        return !air[stations[index].controller].outbox.isEmpty || stations[index].wire.hasPackets(at: now)
    }

    func send(_ packet: Span<UInt8>, from index: Int) {
        if stations[index].wire.isMiscounting { stations[index].inspector.isMiscounting = true }
        record(packet, .toController, index)
        if stations[index].pace?.sent(packet, at: now) == false {
            fail(.bounds, "advertising resumed immediately after links that ended immediately", at: station(index))
        }
        privateAddresses?.sent(packet, from: index)
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

    /// Whether a rule can be checked. If packets were truncated, the inspector may parse other octets as opcodes than
    /// the host.
    private func isPlain(_ rule: Violation.Rule) -> Bool {
        switch rule {
        case .oneRequest, .oneIndication, .mtu, .channelCredit, .wellFormed, .protection, .bond:
            !stations.contains { $0.wire.isTainted }
        default: true
        }
    }

    /// Delivers the packets that are due to the controller.
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

    /// Delivers one packet per turn, so that the host's response is ordered directly after the packet.
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
        if !stations[index].traps.isEmpty { spring(packet, index) }
        stations[index].pace?.received(packet, at: now)
        if stations[index].wire.rudeness == .wrongPeers { checkPace(index) }
        stations[index].security?.received(packet)
        if let violation = stations[index].inspector.received(packet),
            isPlain(violation.rule), violation.rule != .wellFormed || !stations[index].wire.changesCommands
        {
            fail(violation.rule, violation.text, at: station(index))
        }
    }

    /// Triggers the faults that wait for this kind of packet, after the host has received it.
    private func spring(_ packet: Span<UInt8>, _ index: Int) {
        guard let moment = Scenario.Fault.Moment(of: packet) else { return }
        let struck = stations[index].traps.filter { $0.moment == moment }
        stations[index].traps.removeAll { $0.moment == moment }
        for trap in struck { schedule(at: now, trap.strike) }
    }

    private func record(_ packet: Span<UInt8>, _ direction: PacketDirection, _ index: Int) {
        packetCount += 1
        digest.add(now.nanoseconds ^ UInt64(index) << 56 ^ (direction == .toHost ? 1 << 63 : 0))
        digest.add(packet)
        observePacket?(station(index), direction, packet)
    }

    /// Checks how often a controller has connected to another device than the requested one.
    func checkPace(_ index: Int) {
        let recent = stations[index].wire.misdirected.filter { $0.advanced(by: .seconds(10)) > now }
        guard recent.count > Self.misdirectedLimit else { return }
        fail(.bounds, "\(recent.count) connections to others within ten seconds", at: station(index))
    }

    /// An immediate attempt, and retries after 0, 100, 300, 700, 1,500, 3,100 and 6,300 ms, make eight.
    private static let misdirectedLimit = 10

    /// Resets a controller whose host has detached, ready for the next host.
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

extension Scenario.Fault.Moment {
    /// The kind of a packet that a host receives, if a fault can wait for it.
    fileprivate init?(of packet: Span<UInt8>) {
        guard packet.count > 3 else { return nil }
        if packet[0] == HCIPacketType.aclData.rawValue {
            self = .data
            return
        }
        switch HCIEventCode(rawValue: packet[1]) {
        case .leMeta where packet[3] == 0x01 || packet[3] == 0x0A: self = .connection
        case .disconnectionComplete: self = .disconnection
        case .commandComplete, .commandStatus: self = .commandAnswer
        default: return nil
        }
    }
}
