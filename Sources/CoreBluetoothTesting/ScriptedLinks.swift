import BluetoothBase
import BluetoothHCI

/// The ATT PDUs on the links of a scripted device, between its controller and its host.
///
/// A scripted answer must not disturb the host's flow control. The request is therefore replaced with one that the host
/// refuses, and the refusal is replaced with the answer. Each takes one packet, because the controller's buffers are
/// longer than any PDU.
struct ScriptedLinks {
    /// What a turn's packets lead to.
    struct Outcome {
        /// The packets for the host.
        var packets: [[UInt8]] = []
        /// Whether the device ends its links.
        var dropsLinks = false
        /// When the next request that waits is due.
        var deadline: Instant?
    }

    private struct Held {
        let pdu: [UInt8]
        /// Nil for a request that arrived behind one that waits.
        let due: (instant: Instant, action: VirtualResponse.Action)?
    }

    private struct Link {
        /// The part of a frame of the attribute channel that has arrived.
        var partial: [UInt8] = []
        /// Whether the current frame belongs to another channel.
        var isPassing = false
        var held: [Held] = []
        /// The PDU that replaces the host's next refusal.
        var answer: [UInt8]?
        /// Whether the device ends the link: it ignores everything that arrives until then.
        var isEnding = false
        var clientMTU: UInt16 = 23
        var mtu: UInt16 = 23
    }

    private var links: [UInt16: Link] = [:]

    /// The number of octets before the PDU: H4 indicator, ACL header and L2CAP header.
    private static let headerLength = 9
    private static let attributeChannel: [UInt8] = [0x04, 0x00]
    /// A read of the handle that no attribute has.
    private static let refused: [UInt8] = [0x0A, 0x00, 0x00]

    // MARK: - To the host

    mutating func receive(_ packets: [[UInt8]], _ script: AttributeScript, at now: Instant) -> Outcome {
        var outcome = Outcome()
        for handle in links.keys.sorted() { release(handle, script, at: now, &outcome) }
        for packet in packets { receive(packet, script, at: now, &outcome) }
        for link in links.values { outcome.deadline = earliest(outcome.deadline, link.held.first?.due?.instant) }
        return outcome
    }

    private mutating func receive(
        _ packet: [UInt8], _ script: AttributeScript, at now: Instant, _ outcome: inout Outcome
    ) {
        guard packet.count >= 5, packet[0] == HCIPacketType.aclData.rawValue else {
            // Disconnection Complete: the handle may be used again.
            if packet.count >= 6, packet[0] == HCIPacketType.event.rawValue, packet[1] == 0x05 {
                links[UInt16(packet[4]) | UInt16(packet[5]) << 8] = nil
            }
            return outcome.packets.append(packet)
        }
        let header = UInt16(packet[1]) | UInt16(packet[2]) << 8
        let handle = header & 0x0FFF, data = packet[5...]
        var link = links[handle] ?? Link()
        defer { links[handle] = link }
        if header >> 12 & 0b11 != 0b01 {
            link.isPassing = data.count < 4 || Array(data.dropFirst(2).prefix(2)) != Self.attributeChannel
            link.partial = []
        }
        guard !link.isPassing else { return outcome.packets.append(packet) }
        link.partial += data
        guard link.partial.count >= 4 + Int(UInt16(link.partial[0]) | UInt16(link.partial[1]) << 8) else { return }
        let pdu = Array(link.partial.dropFirst(4))
        link.partial = []
        guard !link.isEnding else { return }
        guard link.held.isEmpty else { return link.held.append(Held(pdu: pdu, due: nil)) }
        perform(script.action(for: pdu), pdu, &link, handle, script, at: now, &outcome)
    }

    /// Performs what is due, and then everything that waited behind it.
    private mutating func release(
        _ handle: UInt16, _ script: AttributeScript, at now: Instant, _ outcome: inout Outcome
    ) {
        guard var link = links[handle], !link.held.isEmpty else { return }
        while let first = link.held.first {
            if let due = first.due, due.instant > now { break }
            link.held.removeFirst()
            let count = link.held.count
            perform(
                first.due?.action ?? script.action(for: first.pdu), first.pdu, &link, handle, script, at: now, &outcome)
            // Another delay: it precedes what waits.
            if link.held.count > count { link.held.insert(link.held.removeLast(), at: 0) }
        }
        links[handle] = link
    }

    private func perform(
        _ action: VirtualResponse.Action, _ pdu: [UInt8], _ link: inout Link, _ handle: UInt16,
        _ script: AttributeScript, at now: Instant, _ outcome: inout Outcome
    ) {
        var pdu = pdu
        switch action {
        case .normal: pdu = normal(pdu, &link, mtu: script.mtu)
        case .error(let code):
            guard Self.isRequest(pdu[0]) else { return }
            let attribute = pdu.count >= 3 ? [pdu[1], pdu[2]] : [0, 0]
            link.answer = [0x01, pdu[0]] + attribute + [code]
            pdu = Self.refused
        case .value(let value):
            let offset = pdu.count >= 5 && pdu[0] == 0x0C ? Int(UInt16(pdu[3]) | UInt16(pdu[4]) << 8) : 0
            guard pdu[0] == 0x0A || pdu[0] == 0x0C else { break }
            link.answer = [pdu[0] + 1] + value.dropFirst(offset).prefix(Int(link.mtu) - 1)
            pdu = Self.refused
        case .ignore: return
        case .disconnect:
            link.isEnding = true
            link.held = []
            return outcome.dropsLinks = true
        case .delayed(let delay, let action):
            // Bounded: a client has one request at a time, and what it sends without a response is its own affair.
            return link.held.append(Held(pdu: pdu, due: (now.advanced(by: delay), action)))
        }
        outcome.packets.append(Self.packet(pdu, handle, flags: 0b10))
    }

    /// An unchanged PDU, except that the device has its own ATT_MTU.
    private func normal(_ pdu: [UInt8], _ link: inout Link, mtu: UInt16) -> [UInt8] {
        guard pdu.count == 3, pdu[0] == 0x02 || pdu[0] == 0x03 else { return pdu }
        let value = min(mtu, UInt16(pdu[1]) | UInt16(pdu[2]) << 8)
        link.clientMTU = value
        if pdu[0] == 0x03 { link.mtu = value }
        return [pdu[0], UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value >> 8)]
    }

    // MARK: - From the host

    /// The packet that is sent in place of the host's packet; nil for the same.
    mutating func sent(_ packet: [UInt8], mtu: UInt16) -> [UInt8]? {
        guard packet.count > Self.headerLength, packet[0] == HCIPacketType.aclData.rawValue,
            packet[2] >> 4 & 0b11 != 0b01, Array(packet[7...8]) == Self.attributeChannel
        else { return nil }
        let handle = (UInt16(packet[1]) | UInt16(packet[2]) << 8) & 0x0FFF
        let pdu = packet[Self.headerLength...]
        if let answer = links[handle]?.answer, Array(pdu.prefix(4)) == [0x01] + Self.refused {
            links[handle]?.answer = nil
            return Self.packet(answer, handle, flags: 0b00)
        }
        guard pdu.count == 3, packet[9] == 0x02 || packet[9] == 0x03 else { return nil }
        let value = min(mtu, UInt16(packet[10]) | UInt16(packet[11]) << 8)
        if packet[9] == 0x03, let link = links[handle] { links[handle]?.mtu = min(value, link.clientMTU) }
        return Self.packet(
            [packet[9], UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value >> 8)], handle, flags: 0b00)
    }

    // MARK: - Bytes

    /// Whether a client expects a response to a PDU with this opcode. Bit 6 is the Command Flag.
    private static func isRequest(_ opcode: UInt8) -> Bool {
        opcode & 0x40 == 0 && opcode % 2 == 0 && opcode != 0x1E && opcode < 0x1B || opcode == 0x20
    }

    private static func packet(_ pdu: [UInt8], _ handle: UInt16, flags: UInt16) -> [UInt8] {
        let header = handle | flags << 12, length = UInt16(pdu.count), frame = length + 4
        return [HCIPacketType.aclData.rawValue]
            + [header, frame, length].flatMap {
                [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)]
            } + attributeChannel + pdu
    }
}
