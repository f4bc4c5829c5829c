import BluetoothBase
import BluetoothL2CAP

/// What happens on the credit-based channels of a link: the peer sends C-frames and K-frames, we open channels, send,
/// take what came, close, reconfigure, or time passes.
func fuzzChannels(_ input: inout FuzzInput) throws(FuzzViolation) {
    var bench = ChannelBench()
    while !input.isEmpty {
        switch input.choice(of: 16) {
        case 0...3: try bench.receiveCommand(input.chunk())
        case 4...8: try bench.receiveFrame(on: 0x40 + UInt16(input.choice(of: 6)), input.chunk())
        case 9: bench.open(input.choice(of: 6), parameters: input.byte())
        case 10, 11: try bench.send(input.choice(of: 8), length: input.word())
        case 12: bench.consume(input.choice(of: 8))
        case 13: bench.close(input.choice(of: 8), isAbrupt: input.choice(of: 2) == 1)
        case 14: bench.reconfigure(input.choice(of: 8), mtu: input.word(), mps: input.word())
        default: bench.pass(.seconds(Int64(input.byte())))
        }
        try bench.settle()
    }
    // The longest that a peer may take, and then once more for what is closed.
    for _ in 0..<3 {
        bench.pass(.seconds(400))
        try bench.settle()
    }
    // What was closed, or asked for, has ended by now; what is open stays.
    try require(bench.signalling.nextDeadline == nil, "a request that never ends")
}

private struct ChannelBench {
    var signalling = SignallingChannel(role: .central, channelLimit: 6)
    private var now = Instant.zero
    private var open: [CreditBasedChannel.ID] = []
    private var asked: Set<CreditBasedChannel.ID> = []
    /// The lengths of the SDUs that nobody has taken yet.
    private var held: [CreditBasedChannel.ID: [Int]] = [:]
    /// What was agreed to when each channel was opened, and the longest MTU and MPS that were asked for since.
    private var windows: [CreditBasedChannel.ID: (first: ChannelParameters, mtu: UInt16, mps: UInt16)] = [:]

    private static let limits = ChannelParameters(mtu: 300, mps: 100, window: 3)
    private static let sdu = [UInt8](repeating: 0x5A, count: 65535)

    mutating func receiveCommand(_ payload: Span<UInt8>) throws(FuzzViolation) {
        var writer = ByteWriter()
        let outcome = signalling.receive(payload, into: &writer) { spsm in
            spsm & 1 == 0 ? .accepted(Self.limits) : .refused(.spsmNotSupported)
        }
        try require(writer.count <= Int(SignallingChannel.mtu), "an answer of \(writer.count) octets")
        if case .connectionParameterUpdateEnded = outcome { try require(false, "the end of no request") }
    }

    mutating func receiveFrame(on endpoint: UInt16, _ payload: Span<UInt8>) throws(FuzzViolation) {
        let endpoint = ChannelIdentifier(endpoint)
        let credits = signalling.channels.id(at: endpoint).flatMap { signalling.channels[$0]?.receiveCredits }
        switch signalling.channels.receive(payload, on: endpoint) {
        case .sdu(let id), .pdu(let id, _): try take(id, payload.count - 2, credits)
        case .reassembledSDU(let id), .reassembledPDU(let id, _):
            var sdu = ByteWriter()
            signalling.channels.appendReassembled(of: id, to: &sdu)
            try take(id, sdu.count, credits)
        case .starved(let id): giveCredits(id)
        case .incomplete, .ignored: break
        case .unknown: try require(!open.contains { $0.cid == endpoint }, "an open channel is not known")
        case .violated(let violation): signalling.channels.fail(endpoint, violation)
        }
    }

    private mutating func take(_ id: CreditBasedChannel.ID, _ length: Int, _ credits: Int?) throws(FuzzViolation) {
        try require(open.contains(id), "an SDU of a channel that is not open")
        try require(credits ?? 0 > 0, "an SDU without a credit")
        guard let channel = signalling.channels[id] else { return }
        try require(length <= Int(channel.local.mtu), "an SDU of \(length) octets")
        held[id, default: []].append(length)
        try checkWindow(of: id)
    }

    /// What waits for the reader and what the peer may send are never more than the window and one SDU.
    private func checkWindow(of id: CreditBasedChannel.ID) throws(FuzzViolation) {
        guard let channel = signalling.channels[id], let window = windows[id], let held = held[id] else { return }
        let limit = window.first.greatestWaitingCount(longestMPS: window.mps)
        try require(held.count <= limit, "\(held.count) SDUs wait, at most \(limit)")
        let least = Int(window.first.mps)
        let octets = held.reduce(0) { $0 + max($1 + 2, least) } + channel.receiveCredits * Int(channel.local.mps)
        let bound = Int(window.first.window) * Int(window.mps) + max(Int(window.mtu) + 2, least)
        try require(octets <= bound, "\(octets) octets wait or may be sent, at most \(bound)")
    }

    mutating func open(_ count: Int, parameters: UInt8) {
        var writer = ByteWriter()
        let limits = ChannelParameters(mtu: 23 + UInt16(parameters), mps: 23 + UInt16(parameters & 0x7F), window: 3)
        if count == 0 {
            if let id = try? signalling.openChannel(to: 0x80, parameters: limits, at: now, into: &writer) {
                asked.insert(id)
            }
        } else if let ids = try? signalling.openChannels(count, to: 0x80, parameters: limits, at: now, into: &writer) {
            asked.formUnion(ids)
        }
    }

    private func channel(_ number: Int) -> CreditBasedChannel.ID? { number < open.count ? open[number] : nil }

    mutating func send(_ number: Int, length: UInt16) throws(FuzzViolation) {
        guard let id = channel(number), let channel = signalling.channels[id],
            case .ready(let frames) = signalling.channels.prepareToSend(Int(length), on: id)
        else { return }
        try require(frames <= channel.sendCredits, "\(frames) K-frames for \(channel.sendCredits) credits")
        try require(length <= channel.peerMTU, "an SDU of \(length) octets, where the peer takes \(channel.peerMTU)")
        let sdu = Array(Self.sdu.prefix(Int(length)))
        var sent = 0
        for _ in 0..<min(frames, 8) where sent < sdu.count {
            var writer = ByteWriter()
            _ = signalling.channels.appendFrame(of: sdu.span, sent: &sent, on: id, into: &writer)
            try require(writer.count <= Int(channel.peerMPS), "a K-frame of \(writer.count) octets")
        }
        if sent < sdu.count { signalling.channels.enqueue(sdu, sent: sent, on: id) }
    }

    mutating func consume(_ number: Int) {
        guard let id = channel(number), let length = held[id]?.popLast() else { return }
        if signalling.channels.consume(length, on: id) { giveCredits(id) }
    }

    private mutating func giveCredits(_ id: CreditBasedChannel.ID) {
        var writer = ByteWriter()
        signalling.giveCredits(on: id, into: &writer)
    }

    mutating func close(_ number: Int, isAbrupt: Bool) {
        if let id = channel(number) { signalling.close(id, isAbrupt: isAbrupt, at: now) }
    }

    mutating func reconfigure(_ number: Int, mtu: UInt16, mps: UInt16) {
        var writer = ByteWriter()
        guard let id = channel(number),
            (try? signalling.reconfigure([id], mtu: mtu, mps: mps, at: now, into: &writer)) != nil
        else { return }
        windows[id]?.mtu.formMaximum(with: mtu)
        windows[id]?.mps.formMaximum(with: mps)
    }

    mutating func pass(_ time: Duration) {
        now = now.advanced(by: time)
        _ = signalling.fire(at: now)
        while signalling.owesCommands {
            var writer = ByteWriter()
            signalling.writeOwed(at: now, into: &writer)
        }
    }

    /// Sends what waits, writes what is owed, and takes what has happened.
    mutating func settle() throws(FuzzViolation) {
        while let id = signalling.channels.nextToSend(after: 0x7F) {
            var writer = ByteWriter()
            let credits = signalling.channels[id]?.sendCredits ?? 0
            guard signalling.channels.appendWaitingFrame(on: id, at: now, into: &writer) != nil else { break }
            try require(credits > 0, "a K-frame without a credit")
        }
        signalling.channels.endDrained(at: now)
        while signalling.owesCommands {
            var writer = ByteWriter()
            signalling.writeOwed(at: now, into: &writer)
            try require(!writer.isEmpty, "nothing is owed")
        }
        let events = signalling.channels.events
        signalling.channels.events = []
        for event in events { try note(event) }
        for id in open { try checkWindow(of: id) }
    }

    private mutating func note(_ event: ChannelEvent) throws(FuzzViolation) {
        switch event {
        case .opened(let id, let opener):
            try require(!open.contains(id), "opened twice")
            try require(opener == .peer || asked.remove(id) != nil, "a channel that nobody asked for")
            open.append(id)
            if let local = signalling.channels[id]?.local { windows[id] = (local, local.mtu, local.mps) }
        case .openingFailed(let id, _): try require(asked.remove(id) != nil, "the failure of what nobody asked for")
        case .closed(let id, _):
            try require(open.contains(id), "closed twice, or never opened")
            open.removeAll { $0 == id }
            held[id] = nil
            windows[id] = nil
        case .limitsChanged(let id): try require(open.contains(id), "the limits of a channel that is not open")
        case .reconfigured: return
        }
        try require(open.count <= 6, "\(open.count) channels")
    }
}

extension UInt16 {
    fileprivate mutating func formMaximum(with other: UInt16) { self = Swift.max(self, other) }
}
