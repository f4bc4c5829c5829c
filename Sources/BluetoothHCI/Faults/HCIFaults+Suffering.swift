import BluetoothBase

/// What each fault does to a packet.
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
            // The count of the first link: indicator, code, length, number of links, handle, count.
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

    /// Changes an answer so that no command may follow, and has the credits come later.
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
        // A second Reset would be answered like the first; one at a time is enough to tell the answers apart.
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

/// Where a packet says how long it is (Core 5.4, Vol 4, Part E, 5.4).
private struct LengthField {
    /// The offset behind it, where what it counts begins.
    let end: Int
    private let octets: Int

    /// Nil for a packet that ends before it, or has another kind of field.
    init?(of packet: [UInt8]) {
        switch packet.first.flatMap(HCIPacketType.init) {
        case .event: (end, octets) = (3, 1)
        case .command: (end, octets) = (4, 1)
        case .aclData: (end, octets) = (5, 2)
        case .synchronousData, .isoData, nil: return nil
        }
        guard packet.count >= end else { return nil }
    }

    /// The longest length it can hold.
    var maximum: Int { octets == 1 ? 0xFF : 0xFFFF }

    /// Makes it say what follows.
    func write(to packet: inout [UInt8]) {
        let length = packet.count - end
        packet[end - octets] = UInt8(truncatingIfNeeded: length)
        if octets == 2 { packet[end - 1] = UInt8(truncatingIfNeeded: length >> 8) }
    }
}
