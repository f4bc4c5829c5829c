import BluetoothATT
import BluetoothBase
import BluetoothHCI

/// The connection between a host and its controller, with its faults. A class, because it is accessed for every packet.
final class Wire {
    /// Faults of the transport and of the controller.
    @exclusivity(unchecked) private(set) var faults: HCIFaults
    /// The probability that an ATT PDU from this host is modified. To its peers the host then is a broken device.
    var mutationRate = 0.0 { didSet { refresh() } }
    /// The probability that data for this host gets invalid flags, or that a fragment is lost.
    var fragmentLossRate = 0.0 { didSet { refresh() } }
    /// The current fault of hardship, if any.
    var rudeness: Scenario.Fault.Kind? {
        didSet {
            endings = []
            hasFlooded = false
            refresh()
        }
    }
    /// Links that the host has disconnected, and whose end is not reported to it.
    @exclusivity(unchecked) private var endings: Set<UInt16> = []
    @exclusivity(unchecked) private var hasFlooded = false
    /// Links that the host has yet to learn of. Data it sends with their handles in the meantime is meant for earlier
    /// links.
    @exclusivity(unchecked) private var arriving: Set<UInt16> = []
    /// The times at which the controller connected to another device than the requested one, since its last Reset.
    @exclusivity(unchecked) private(set) var misdirected: [Instant] = []
    /// Whether values may have been lost or duplicated in a way that no host can detect.
    @exclusivity(unchecked) private(set) var isTainted = false
    /// Whether the controller's counts of completed packets were changed.
    @exclusivity(unchecked) private(set) var isMiscounting = false
    /// Whether the controller ran out of buffers and lost data from its host.
    @exclusivity(unchecked) private(set) var hasOverflowed = false
    /// Whether commands were modified in transit.
    @exclusivity(unchecked) private(set) var changesCommands = false
    /// The number of faults so far.
    @exclusivity(unchecked) private(set) var faultCount = 0

    @exclusivity(unchecked) private var hasFaults = false
    @exclusivity(unchecked) private(set) var nextDeadline: Instant?
    @exclusivity(unchecked) private var hasPackets = false
    @exclusivity(unchecked) private var generator: SeededGenerator
    @exclusivity(unchecked) private var pairing = PairingDisorder()

    init(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        faults = HCIFaults(.none, seed: generator.next())
        self.generator = generator
    }

    /// The rates of the faults of the transport and the controller.
    var rates: HCIFaultRates {
        get { faults.rates }
        set {
            faults.rates = newValue
            refresh()
        }
    }

    /// Whether packets must pass through this object.
    var isFaulty: Bool { hasFaults || nextDeadline != nil || hasPackets }

    private func refresh() {
        hasFaults = faults.rates != .none || mutationRate > 0 || fragmentLossRate > 0 || rudeness != nil
    }

    /// Caches the state that is read frequently, because reading it from `faults` copies them.
    private func note() {
        nextDeadline = faults.nextDeadline
        hasPackets = !faults.toHost.isEmpty || !faults.toController.isEmpty
    }

    /// Queues a packet for the host.
    func keepForHost(_ packet: Span<UInt8>) {
        faults.toHost.append(packet)
        note()
    }

    func hasPackets(at now: Instant) -> Bool { hasPackets || (nextDeadline.map { $0 <= now } ?? false) }

    /// Takes a packet in transit. Returns true if it must be passed on unchanged.
    func take(_ packet: Span<UInt8>, _ direction: PacketDirection, at now: Instant) -> Bool {
        noteLate(packet, direction)
        // Data Buffer Overflow (Vol 4, Part E, 7.7.26).
        if direction == .toHost, packet.count > 1, packet[0] == 4, packet[1] == 0x1A { hasOverflowed = true }
        if rudeness != nil, offend(packet, direction, at: now) {
            faultCount += 1
            note()
            return false
        }
        if let changed = change(packet, direction) {
            faultCount += 1
            if !changed.isEmpty { _ = suffer(changed.span, direction, at: now, isChanged: true) }
            return false
        }
        return suffer(packet, direction, at: now, isChanged: false)
    }

    private func suffer(
        _ packet: Span<UInt8>, _ direction: PacketDirection, at now: Instant, isChanged: Bool
    ) -> Bool {
        defer { note() }
        switch faults.receive(packet, to: direction == .toHost ? .host : .controller, at: now) {
        case .passed:
            guard isChanged else { return true }
            if direction == .toHost { faults.toHost.append(packet) } else { faults.toController.append(packet) }
            return false
        case .taken(let fault?):
            faultCount += 1
            note(fault)
            return false
        case .taken(nil): return false
        }
    }

    /// Notes faults that no host can detect: duplicated data, and a start of a frame of which nothing is left.
    private func note(_ fault: HCIFault) {
        if case .command = fault.packet, fault.kind == .cut || fault.kind == .lengthened { changesCommands = true }
        if fault.kind == .excessCompletion { (isMiscounting, isTainted) = (true, true) }
        guard case .data = fault.packet else { return }
        switch fault.kind {
        case .doubled, .cut: isTainted = true
        default: break
        }
    }

    /// Notes data that the host cannot know it sends to the wrong peer, because the handle already belongs to a new
    /// link.
    private func noteLate(_ packet: Span<UInt8>, _ direction: PacketDirection) {
        if direction == .toHost, let handle = packet.openedLink { arriving.insert(handle) }
        if direction == .toController, packet.count > 5, packet[0] == 2, arriving.contains(packet.word(1) & 0x0FFF) {
            isTainted = true
        }
    }

    /// Removes and returns the oldest packet that is due.
    func next(_ direction: PacketDirection, at now: Instant) -> [UInt8]? {
        guard hasPackets(at: now) else { return nil }
        defer { note() }
        faults.fire(at: now)
        guard direction == .toHost else { return faults.toController.popFirst() }
        let packet = faults.toHost.popFirst()
        if let handle = packet?.span.openedLink { arriving.remove(handle) }
        return packet
    }

    /// Drops all packets in transit.
    func clear() {
        faults.removeAll()
        arriving = []
        note()
    }

    /// Ends all faults. Packets in transit still arrive.
    func calm() {
        rates = .none
        mutationRate = 0
        fragmentLossRate = 0
        rudeness = nil
    }

    // MARK: - Hardship

    /// Applies the fault of hardship to a packet. Returns false if the packet stays unchanged.
    private func offend(_ packet: Span<UInt8>, _ direction: PacketDirection, at now: Instant) -> Bool {
        switch (rudeness, direction) {
        case (.unanswering, .toController): return packet.isAnswer
        case (.lostEnds, .toController):
            // Disconnect (Vol 4, Part E, 7.1.6).
            if packet.count == 7, packet[0] == 1, packet[1] == 0x06, packet[2] == 0x04 {
                endings.insert(packet.word(4))
            }
            return false
        case (.lostEnds, .toHost):
            // Disconnection Complete (7.7.5).
            guard packet.count == 7, packet[0] == 4, packet[1] == 0x05 else { return false }
            // Only once: the next link may get the same handle, and its host has not disconnected it.
            return endings.remove(packet.word(4)) != nil
        case (.wrongPeers, .toHost): return misdirect(packet, at: now)
        case (.wrongPeers, .toController):
            // A Reset makes the controller as good as new (Vol 4, Part E, 7.3.2), so earlier connections do not count.
            if packet.count == 4, packet[0] == 1, packet[1] == 0x03, packet[2] == 0x0C { misdirected = [] }
            return false
        case (.excess, .toHost): return exceed(packet)
        case (.overlongFragments, .toHost): return lengthen(packet)
        // LE Connection Update Complete (7.7.65.3).
        case (.lostUpdates, .toHost):
            return packet.count > 3 && packet[0] == 4 && packet[1] == 0x3E && packet[3] == 0x03
        default: return false
        }
    }

    /// Reports a connection with another device than the one at the other end.
    private func misdirect(_ packet: Span<UInt8>, at now: Instant) -> Bool {
        guard packet.openedLink != nil, packet[7] == 0 else { return false }
        var bytes = Array(packet)
        bytes[12] ^= 0x40
        misdirected.append(now)
        faults.toHost.append(bytes.span)
        return true
    }

    /// Makes a PDU of a peer arrive with excessive length, or 1,300 times.
    private func exceed(_ packet: Span<UInt8>) -> Bool {
        let isStart = packet.count > 11 && packet[0] == 2 && packet[2] >> 4 & 0b11 != 0b01
        guard isStart, packet[7] == 4, packet[8] == 0, Int(packet.word(5)) == packet.count - 9 else { return false }
        let kind = ATTOpcode(rawValue: packet[9])?.kind
        if kind == .request || kind == .indication {
            guard !hasFlooded, draw(0.2) else { return false }
            (hasFlooded, isTainted) = (true, true)
            for _ in 0..<1_300 { faults.toHost.append(packet) }
            return true
        }
        guard kind == .response || kind == .notification, packet[9] != ATTOpcode.exchangeMTUResponse.rawValue, draw(0.3)
        else { return false }
        var bytes = Array(packet)
        bytes += [UInt8](repeating: 0x5A, count: 1 + Int(generator.next() % UInt64(max(1, 256 - packet.count))))
        write(UInt16(bytes.count - 9), at: 5, in: &bytes)
        write(UInt16(bytes.count - 5), at: 3, in: &bytes)
        faults.toHost.append(bytes.span)
        return true
    }

    /// Inserts unrelated octets before the rest of a frame, more than any frame has.
    private func lengthen(_ packet: Span<UInt8>) -> Bool {
        guard packet.count > 5, packet[0] == 2, packet[2] >> 4 & 0b11 == 0b01, draw(0.1) else { return false }
        var bytes = Array(packet)
        bytes.insert(contentsOf: (0..<600).map { UInt8(truncatingIfNeeded: $0 &* 7) }, at: 5)
        write(UInt16(bytes.count - 5), at: 3, in: &bytes)
        faults.toHost.append(bytes.span)
        return true
    }

    // MARK: - Changes

    /// A packet as a broken device or controller would send it; empty to drop the packet, nil to leave it unchanged.
    private func change(_ packet: Span<UInt8>, _ direction: PacketDirection) -> [UInt8]? {
        guard packet.count > 5 else { return nil }
        if packet[0] == HCIPacketType.command.rawValue { return direction == .toController ? renameKey(packet) : nil }
        guard packet[0] == HCIPacketType.aclData.rawValue else { return nil }
        switch direction {
        case .toController:
            guard mutationRate > 0 else { return nil }
            let isSecurity = packet.count > 9 && packet[7] == 6 && packet[8] == 0 && packet[2] >> 4 & 0b11 != 0b01
            if isSecurity { return pairing.change(packet, draw(2 * mutationRate), &generator) }
            guard draw(mutationRate) else { return nil }
            return pairing.intrude(into: packet, &generator) ?? mutate(packet)
        case .toHost:
            guard fragmentLossRate > 0, draw(fragmentLossRate) else { return nil }
            return loseFragment(packet)
        }
    }

    /// Modifies the opcode, the octets or the length of an ATT PDU.
    private func mutate(_ packet: Span<UInt8>) -> [UInt8]? {
        let header = 9
        guard packet.count > header, packet[7] == 4, packet[8] == 0, packet[2] >> 4 & 0b11 != 0b01 else { return nil }
        var bytes = Array(packet)
        switch generator.next() % 6 {
        case 4, 5:
            if !giveOtherAnswer(&bytes[header...]) { return nil }
        case 0: bytes[header] = UInt8(truncatingIfNeeded: generator.next() % 0x25)
        case 1: bytes[header] = UInt8(truncatingIfNeeded: generator.next())
        case 2:
            for _ in 0...Int(generator.next() % 3) {
                let position = header + Int(generator.next() % UInt64(bytes.count - header))
                bytes[position] = UInt8(truncatingIfNeeded: generator.next())
            }
        default:
            let isWhole = Int(bytes[5]) | Int(bytes[6]) << 8 == bytes.count - header
            guard isWhole else { return nil }
            bytes.removeLast(min(bytes.count - header - 1, 1 + Int(generator.next() % 8)))
            write(UInt16(bytes.count - header), at: 5, in: &bytes)
            write(UInt16(bytes.count - 5), at: 3, in: &bytes)
        }
        return bytes
    }

    /// Turns a response into one to another request. Returns false if the PDU is not a response.
    private func giveOtherAnswer(_ pdu: inout ArraySlice<UInt8>) -> Bool {
        guard ATTOpcode(rawValue: pdu[pdu.startIndex])?.kind == .response else { return false }
        let requests = ATTOpcode.allCases.filter { $0.kind == .request }
        let other = requests[Int(generator.next() % UInt64(requests.count))].rawValue
        if pdu[pdu.startIndex] == ATTOpcode.errorResponse.rawValue, pdu.count > 1 {
            pdu[pdu.startIndex + 1] = other
        } else {
            pdu[pdu.startIndex] = other + 1
        }
        return true
    }

    /// Makes data unusable in a way that the host can detect: by invalid flags, or by dropping the rest of a frame.
    private func loseFragment(_ packet: Span<UInt8>) -> [UInt8]? {
        let isContinuation = packet[2] >> 4 & 0b11 == 0b01
        if isContinuation { return [] }
        var bytes = Array(packet)
        switch generator.next() % 3 {
        case 0, 1:
            bytes[2] |= generator.oneIn(2) ? 0b0100_0000 : 0b0011_0000
            // The packet arrives in addition to the real one. A host that accepts it receives the data twice.
            guard generator.oneIn(2) else { return bytes }
            faults.toHost.append(bytes.span)
            return nil
        default:
            // Drop the rest of the frame.
            guard packet.count > 10 else { return nil }
            bytes.removeLast(1 + Int(generator.next() % UInt64(packet.count - 10)))
            write(UInt16(bytes.count - 5), at: 3, in: &bytes)
        }
        return bytes
    }

    /// Changes the EDIV or Rand in a request for a key.
    private func renameKey(_ packet: Span<UInt8>) -> [UInt8]? {
        guard mutationRate > 0, packet.count == 32, packet[1] == 0x19, packet[2] == 0x20, generator.oneIn(2) else {
            return nil
        }
        var bytes = Array(packet)
        bytes[6 + Int(generator.next() % 10)] ^= 1 << UInt8(generator.next() % 8)
        return bytes
    }

    private func write(_ value: UInt16, at offset: Int, in bytes: inout [UInt8]) {
        bytes[offset] = UInt8(truncatingIfNeeded: value)
        bytes[offset + 1] = UInt8(truncatingIfNeeded: value >> 8)
    }

    private func draw(_ rate: Double) -> Bool { Double(generator.next() >> 11) < rate * 0x1p53 }
}
