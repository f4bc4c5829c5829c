import BluetoothBase

/// The effect of each fault on a packet.
extension HCIFaults {
    mutating func suffer(_ fault: inout HCIFault, _ packet: Span<UInt8>, at now: Instant) {
        let receiver = fault.receiver
        var bytes = Array(packet)
        switch fault.kind {
        case .unansweredCommand, .lostCompletion: return
        case .lateAnswer, .lateCompletion:
            let delay = generator.duration(in: fault.kind == .lateAnswer ? rates.answerDelay : rates.completionDelay)
            fault.duration = delay
            return enqueue(bytes, to: receiver, at: now, after: delay)
        case .doubledAnswer, .doubled:
            enqueue(bytes, to: receiver, at: now)
        case .withheldCredits:
            fault.duration = withholdCredits(in: &bytes, at: now)
        case .excessCompletion:
            // Increase the count of the first link. The fields are indicator, code, length, number of links, handle,
            // count.
            if bytes.count > 6 { bytes[6] &+= UInt8(1 + generator.number(below: 3)) }
        case .cut: cut(&bytes)
        case .lengthened: lengthen(&bytes)
        case .torn: bytes.removeLast(1 + generator.number(below: bytes.count - 1))
        case .delay:
            fault.duration = generator.duration(in: rates.delay)
            stall(receiver, isData: nil, for: fault.duration ?? .zero, at: now)
        case .overtaking:
            fault.duration = generator.duration(in: rates.overtakingDelay)
            let isData = if case .data = fault.packet { true } else { false }
            stall(receiver, isData: isData, for: fault.duration ?? .zero, at: now)
        case .silence:
            fault.duration = generator.duration(in: rates.silence)
            stall(receiver, isData: nil, for: fault.duration ?? .zero, at: now)
        case .hardwareError, .reset:
            enqueue(bytes, to: receiver, at: now)
            return failController(isReset: fault.kind == .reset, at: now)
        }
        enqueue(bytes, to: receiver, at: now)
    }

    /// Changes an answer so that it grants no command credits, and schedules an event that returns them later.
    private mutating func withholdCredits(in answer: inout [UInt8], at now: Instant) -> Duration? {
        let offset = answer[1] == HCIEventCode.commandComplete.rawValue ? 3 : 4
        guard offset < answer.count else { return nil }
        var event = ByteWriter()
        CommandComplete(numHCICommandPackets: max(1, answer[offset]), opcode: .none, returnParameters: Span())
            .encodePacket(into: &event)
        answer[offset] = 0
        let delay = generator.duration(in: rates.creditDelay)
        enqueue(event.bytes, to: .host, at: now, after: delay)
        return delay
    }

    private mutating func failController(isReset: Bool, at now: Instant) {
        var packet = ByteWriter()
        // Only one Reset is outstanding at a time, because the answers to several could not be told apart.
        if isReset, !isResetting {
            isResetting = true
            Reset().encodePacket(into: &packet)
            enqueue(packet.bytes, to: .controller, at: now)
            packet.removeAll()
        }
        HardwareError(hardwareCode: UInt8(generator.number(below: 256))).encodePacket(into: &packet)
        enqueue(packet.bytes, to: .host, at: now)
    }

    // MARK: - The length of packets

    private mutating func cut(_ packet: inout [UInt8]) {
        guard let field = LengthField(of: packet), packet.count > field.end else { return }
        packet.removeLast(1 + generator.number(below: packet.count - field.end))
        field.write(to: &packet)
    }

    private mutating func lengthen(_ packet: inout [UInt8]) {
        guard let field = LengthField(of: packet) else { return }
        let room = min(8, field.maximum - (packet.count - field.end))
        guard room > 0 else { return }
        for _ in 0...generator.number(below: room) { packet.append(UInt8(generator.number(below: 256))) }
        field.write(to: &packet)
    }
}

/// The location of a packet's length field (Core 5.4, Vol 4, Part E, 5.4).
private struct LengthField {
    /// The offset after the field, where the counted octets begin.
    let end: Int
    private let octets: Int

    /// Returns nil for a packet that is too short to contain the field, or that has another kind of field.
    init?(of packet: [UInt8]) {
        switch packet.first.flatMap(HCIPacketType.init) {
        case .event: (end, octets) = (3, 1)
        case .command: (end, octets) = (4, 1)
        case .aclData: (end, octets) = (5, 2)
        case .synchronousData, .isoData, nil: return nil
        }
        guard packet.count >= end else { return nil }
    }

    /// The maximum value of the field.
    var maximum: Int { octets == 1 ? 0xFF : 0xFFFF }

    /// Sets the field to the number of octets that follow it.
    func write(to packet: inout [UInt8]) {
        let length = packet.count - end
        packet[end - octets] = UInt8(truncatingIfNeeded: length)
        if octets == 2 { packet[end - 1] = UInt8(truncatingIfNeeded: length >> 8) }
    }
}
