import BluetoothBase
import BluetoothHCI

/// Checks the packets between one host and its controller, as the host sees them, for violations that no input can
/// excuse.
struct HCIInspector: Sendable {
    struct Finding {
        var rule: Violation.Rule
        var text: String
    }

    private let bufferCount: Int
    private let bufferLength: Int
    /// The number of commands the host may send now.
    private var commandCredit = 1
    /// Whether the controller has reported packets as completed that it never had, so that its free buffers are
    /// unknown.
    var isMiscounting = false
    private var links: [LinkInspector] = []
    /// Links whose end the host learns of in this turn. Packets it sent before may still be in transit.
    private var ending: [UInt16] = []
    /// The most recently ended links. Their confirmations may be reported together with their end.
    private var ended: [LinkInspector] = []

    init(bufferCount: Int, bufferLength: Int) {
        self.bufferCount = bufferCount
        self.bufferLength = bufferLength
    }

    /// Resets the state when a host has left or is about to start.
    mutating func reset() {
        commandCredit = 1
        endLinks { _ in true }
        ending = []
    }

    // MARK: - From the host

    mutating func sent(_ packet: Span<UInt8>) -> Finding? {
        guard packet.count >= 4 else {
            return Finding(rule: .unknownCommand, text: "a packet of \(packet.count) octets")
        }
        switch HCIPacketType(rawValue: packet[0]) {
        case .command: return sentCommand(HCIOpcode(rawValue: word(packet, 1)))
        case .aclData: return sentData(packet)
        case .event, .synchronousData, .isoData, nil:
            return Finding(rule: .unknownCommand, text: "the host sent a packet of type \(packet[0])")
        }
    }

    private mutating func sentCommand(_ opcode: HCIOpcode) -> Finding? {
        // The command takes no credit and is not answered (Core 5.4, Vol 4, Part E, 7.3.40).
        if opcode == .hostNumberOfCompletedPackets { return nil }
        if opcode == .reset {
            ending += links.map(\.handle)
            endLinks { _ in true }
            commandCredit = 0
            return nil
        }
        guard commandCredit > 0 else {
            return Finding(rule: .commandCredit, text: "\(opcode) was sent without a command credit")
        }
        commandCredit -= 1
        return nil
    }

    private mutating func sentData(_ packet: Span<UInt8>) -> Finding? {
        let length = Int(word(packet, 3))
        guard packet.count >= 5, length == packet.count - 5, length > 0, length <= bufferLength else {
            return Finding(
                rule: .dataBuffers,
                text: "a packet of \(length) octets exceeds the controller's buffers of \(bufferLength) octets")
        }
        guard let index = link(word(packet, 1)) else {
            if ending.contains(word(packet, 1) & 0x0FFF) { return nil }
            return Finding(rule: .dataBuffers, text: "data for a link that does not exist")
        }
        links[index].outstanding += 1
        let total = links.reduce(0) { $0 + $1.outstanding }
        guard total <= bufferCount || isMiscounting else {
            return Finding(rule: .dataBuffers, text: "\(total) packets are in a controller with \(bufferCount) buffers")
        }
        return links[index].sent(packet)
    }

    // MARK: - To the host

    /// The host is about to receive packets, and to respond to them.
    mutating func beginTurn() {
        if !ending.isEmpty { ending = [] }
    }

    mutating func received(_ packet: Span<UInt8>) -> Finding? {
        guard packet.count >= 3 else { return nil }
        switch HCIPacketType(rawValue: packet[0]) {
        case .aclData:
            if packet.count > 5, let index = link(word(packet, 1)) { links[index].received(packet) }
            return nil
        case .event: return receivedEvent(packet)
        case .command, .synchronousData, .isoData, nil: return nil
        }
    }

    private mutating func receivedEvent(_ packet: Span<UInt8>) -> Finding? {
        // Hosts ignore truncated events.
        guard packet.count == 3 + Int(packet[2]) else { return nil }
        switch HCIEventCode(rawValue: packet[1]) {
        case .commandComplete where packet.count >= 6:
            commandCredit = Int(packet[3])
            return packet.count > 6 ? answered(word(packet, 4), packet[6]) : nil
        case .commandStatus where packet.count >= 7:
            commandCredit = Int(packet[4])
            return answered(word(packet, 5), packet[3])
        case .numberOfCompletedPackets where packet.count >= 4: completed(packet)
        case .disconnectionComplete where packet.count >= 7 && packet[3] == 0:
            let handle = word(packet, 4) & 0x0FFF
            endLinks { $0.handle == handle }
            ending.append(handle)
        // LE Connection Complete and LE Enhanced Connection Complete (7.7.65.1, 7.7.65.10).
        case .leMeta
        where packet.count >= 22 && packet[4] == 0 && (packet[3] == 0x01 || packet[3] == 0x0A && packet.count >= 34):
            let handle = word(packet, 5) & 0x0FFF
            // The end of a link with the same handle may have been lost.
            endLinks { $0.handle == handle }
            links.append(LinkInspector(handle: handle))
        default: break
        }
        return nil
    }

    private func answered(_ opcode: UInt16, _ status: UInt8) -> Finding? {
        let opcode = HCIOpcode(rawValue: opcode)
        return switch HCIStatus(rawValue: status) {
        case .unknownCommand:
            Finding(rule: .unknownCommand, text: "\(opcode) was sent to a controller that does not support it")
        // Packets of a link that ends while they are reported may be counted for the next link with its handle. No host
        // can know.
        case .invalidCommandParameters where opcode != .hostNumberOfCompletedPackets:
            Finding(rule: .wellFormed, text: "\(opcode) was sent with parameters that the command does not have")
        default: nil
        }
    }

    private mutating func completed(_ packet: Span<UInt8>) {
        for entry in 0..<Int(packet[3]) where packet.count >= 8 + 4 * entry {
            guard let index = link(word(packet, 4 + 4 * entry)) else { continue }
            links[index].outstanding = max(0, links[index].outstanding - Int(word(packet, 6 + 4 * entry)))
        }
    }

    // MARK: - Links

    /// Whether a peer has confirmed an indication of a value, on any link.
    func isConfirmed(_ place: SimulatedValue.Place) -> Bool { (links + ended).contains { $0.isConfirmed(place) } }

    private mutating func endLinks(where isMeant: (LinkInspector) -> Bool) {
        guard links.contains(where: isMeant) else { return }
        ended = (ended + links.filter(isMeant)).suffix(Self.endedLinkLimit)
        links.removeAll(where: isMeant)
    }

    private static let endedLinkLimit = 4

    private func link(_ handle: UInt16) -> Int? { links.firstIndex { $0.handle == handle & 0x0FFF } }

    private func word(_ packet: Span<UInt8>, _ offset: Int) -> UInt16 {
        UInt16(packet[offset]) | UInt16(packet[offset + 1]) << 8
    }
}
