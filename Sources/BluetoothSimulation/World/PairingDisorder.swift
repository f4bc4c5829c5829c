import BluetoothBase

/// The changes that a broken device makes to the Security Manager PDUs it sends: modified, repeated and reordered PDUs.
struct PairingDisorder {
    /// The most recent complete packets with such PDUs.
    private var sent: [[UInt8]] = []
    /// A packet that is sent after the next one.
    private var late: [UInt8]?

    private static let memory = 8
    /// The offset of the PDU, after the headers of H4, ACL and L2CAP.
    private static let start = 9

    /// The replacement for a packet that carries a PDU or its first fragment; empty to send nothing, nil to leave it
    /// unchanged.
    mutating func change(_ packet: Span<UInt8>, _ isChanged: Bool, _ generator: inout SeededGenerator) -> [UInt8]? {
        let isWhole = Int(packet[5]) | Int(packet[6]) << 8 == packet.count - Self.start
        defer { if isWhole { sent = sent.suffix(Self.memory - 1) + [packet.copied()] } }
        guard isChanged else { return nil }
        var bytes = packet.copied()
        let last = bytes.count - Self.start
        switch generator.below(isWhole ? 8 : 3) {
        case 0: bytes[Self.start] = UInt8(1 + generator.below(15))
        case 1: bytes[Self.start + generator.below(last)] ^= 1 << UInt8(generator.below(8))
        case 2: bytes[Self.start + generator.below(last)] = UInt8(generator.below(256))
        case 3: bytes.removeLast(generator.below(last))
        case 4: bytes += (0...generator.below(4)).map { UInt8($0) }
        case 5: return replay(into: packet, &generator)
        case 6:
            // Swaps two packets: this one is sent in place of the next.
            let before = late
            late = bytes
            return before ?? []
        default: return []
        }
        if isWhole { Self.setLength(&bytes) }
        return bytes
    }

    /// Occasionally replaces another packet with an earlier Security Manager PDU.
    mutating func intrude(into packet: Span<UInt8>, _ generator: inout SeededGenerator) -> [UInt8]? {
        guard !sent.isEmpty, packet[2] >> 4 & 0b11 != 0b01, generator.oneIn(4) else { return nil }
        return replay(into: packet, &generator)
    }

    private func replay(into packet: Span<UInt8>, _ generator: inout SeededGenerator) -> [UInt8]? {
        guard var bytes = generator.element(of: sent) else { return nil }
        (bytes[1], bytes[2]) = (packet[1], packet[2])
        return bytes
    }

    private static func setLength(_ bytes: inout [UInt8]) {
        for (count, offset) in [(bytes.count - start, 5), (bytes.count - 5, 3)] {
            bytes[offset] = UInt8(truncatingIfNeeded: count)
            bytes[offset + 1] = UInt8(truncatingIfNeeded: count >> 8)
        }
    }
}
