import BluetoothBase
import BluetoothL2CAP
import TestSupport

/// One end of a link with credit-based channels, and a peer that is made of bytes.
struct ChannelScene {
    var signalling = SignallingChannel(role: .central)
    var now = Instant.zero
    /// The last SDU that was put together, by its endpoint.
    private(set) var completed: [ChannelIdentifier: [UInt8]] = [:]
    /// What this end says to a peer that asks for SPSM 0x80; there is no other service.
    var admission = ChannelAdmission.accepted(Self.local)

    /// What this end takes.
    static let local = ChannelParameters(mtu: 256, mps: 64, window: 4)

    /// Brings the payload of a C-frame.
    ///
    /// - Returns: the payloads this end writes.
    mutating func receive(_ text: String) -> [[UInt8]] {
        let admission = admission
        var writer = ByteWriter()
        _ = signalling.receive(bytes(text).span, into: &writer) { spsm in
            spsm == 0x80 ? admission : .refused(.spsmNotSupported)
        }
        return (writer.isEmpty ? [] : [writer.bytes]) + owed()
    }

    /// The commands that are owed, after `receive` or by themselves.
    mutating func owed() -> [[UInt8]] {
        var written: [[UInt8]] = []
        while signalling.owesCommands {
            var writer = ByteWriter()
            signalling.writeOwed(at: now, into: &writer)
            written.append(writer.bytes)
        }
        return written
    }

    /// What has happened since the last call.
    mutating func events() -> [ChannelEvent] {
        defer { signalling.channels.events = [] }
        return signalling.channels.events
    }

    /// Brings a K-frame; an SDU that it completes is consumed by nobody.
    mutating func frame(_ payload: [UInt8], on endpoint: ChannelIdentifier = 0x40) -> Receipt {
        switch signalling.channels.receive(payload.span, on: endpoint) {
        case .sdu(let id), .pdu(let id, _):
            guard id.cid == endpoint else { return .unknown }
            return .sdu(2..<payload.count)
        case .reassembledSDU(let id), .reassembledPDU(let id, _):
            var sdu = ByteWriter()
            signalling.channels.appendReassembled(of: id, to: &sdu)
            completed[endpoint] = sdu.bytes
            return .reassembled
        case .incomplete: return .incomplete(needsCredits: false)
        case .starved(let id): return .incomplete(needsCredits: id.cid == endpoint)
        case .ignored: return .ignored
        case .unknown: return .unknown
        case .violated(let violation):
            signalling.channels.fail(endpoint, violation)
            return .violated(violation)
        }
    }

    /// What a K-frame led to.
    enum Receipt: Equatable {
        case sdu(Range<Int>)
        case reassembled
        case incomplete(needsCredits: Bool)
        case ignored
        case unknown
        case violated(ChannelViolation)
    }

    /// Sends an SDU as far as credits last; the payloads of its K-frames.
    mutating func send(_ sdu: [UInt8], on id: CreditBasedChannel.ID) -> [[UInt8]] {
        var frames: [[UInt8]] = []
        var sent = 0
        guard case .ready(let count) = signalling.channels.prepareToSend(sdu.count, on: id) else { return [] }
        for _ in 0..<count {
            var writer = ByteWriter()
            _ = signalling.channels.appendFrame(of: sdu.span, sent: &sent, on: id, into: &writer)
            frames.append(writer.bytes)
            if sent == sdu.count { return frames }
        }
        signalling.channels.enqueue(sdu, sent: sent, on: id)
        return frames
    }

    /// The K-frames of what waits for credits, as far as these last now.
    mutating func waiting(_ id: CreditBasedChannel.ID) -> [[UInt8]] {
        var frames: [[UInt8]] = []
        while signalling.channels.nextToSend(after: 0x7F) != nil {
            var writer = ByteWriter()
            guard signalling.channels.appendWaitingFrame(on: id, at: now, into: &writer) != nil else { break }
            frames.append(writer.bytes)
        }
        return frames
    }

    /// Appends K-frames that wait to a queue, behind nine octets with their length and the peer's endpoint.
    mutating func append(
        on id: CreditBasedChannel.ID, upTo limit: Int, longest: Int, to packets: inout PacketQueue
    ) -> Int {
        signalling.channels.appendWaitingFrames(on: id, upTo: limit, longest: longest, at: now, into: &packets) {
            (2, UInt64($1) | UInt64($0.rawValue) << 56)
        }
    }

    mutating func hasRoom(on id: CreditBasedChannel.ID) -> Bool { signalling.channels.hasRoom(on: id) }

    mutating func isReadyAgain(_ id: CreditBasedChannel.ID) -> Bool { signalling.channels.isReadyAgain(id) }

    mutating func fire(at nanoseconds: UInt64) -> SignallingOutcome {
        signalling.fire(at: Instant(nanoseconds: nanoseconds))
    }

    /// The reader takes an SDU; the credits that the peer gets for it.
    mutating func consume(_ length: Int, on id: CreditBasedChannel.ID) -> [UInt8] {
        guard signalling.channels.consume(length, on: id) else { return [] }
        return giveCredits(on: id)
    }

    /// How many credits the peer gets when the reader takes an SDU.
    mutating func grant(consuming length: Int, on id: CreditBasedChannel.ID) -> Int {
        let command = consume(length, on: id)
        return command.count == 8 ? Int(command[6]) | Int(command[7]) << 8 : 0
    }

    mutating func giveCredits(on id: CreditBasedChannel.ID) -> [UInt8] {
        var writer = ByteWriter()
        signalling.giveCredits(on: id, into: &writer)
        return writer.bytes
    }

    /// Opens a channel that the peer asks for: its endpoint is 0x0050, it takes SDUs of 100 octets in K-frames of 23,
    /// and gives two credits.
    mutating func accept() throws -> CreditBasedChannel.ID {
        _ = receive("14 01 0A 00 80 00 50 00 64 00 17 00 02 00")
        guard case .opened(let id, by: .peer)? = events().last else { throw ChannelOpeningFailure.cancelled }
        return id
    }

    /// Opens enhanced channels that the peer asks for: its endpoints are 0x0050 and up, it takes SDUs of 100 octets in
    /// K-frames of 64, and gives two credits.
    mutating func acceptEnhanced(_ count: Int) -> [CreditBasedChannel.ID] {
        let sources = (0..<count).map { hexadecimal(UInt8(0x50 + $0)) + " 00 " }.joined()
        _ = receive("17 01 \(hexadecimal(UInt8(8 + 2 * count))) 00 80 00 64 00 40 00 02 00 " + sources)
        return events().compactMap { if case .opened(let id, by: .peer) = $0 { id } else { nil } }
    }

    /// Opens a channel to SPSM 0x80 and lets the peer agree, with the same as in `accept`.
    mutating func open() throws -> CreditBasedChannel.ID {
        let (id, request) = try request()
        _ = receive("15 \(hexadecimal(request[1])) 0A 00 50 00 64 00 17 00 02 00 00 00")
        guard events() == [.opened(id, by: .thisDevice)] else { throw ChannelOpeningFailure.cancelled }
        return id
    }

    mutating func request() throws -> (CreditBasedChannel.ID, [UInt8]) {
        var writer = ByteWriter()
        let id = try signalling.openChannel(to: 0x80, parameters: Self.local, at: now, into: &writer)
        return (id, writer.bytes)
    }

    mutating func requestEnhanced(_ count: Int) throws -> ([CreditBasedChannel.ID], [UInt8]) {
        var writer = ByteWriter()
        let ids = try signalling.openChannels(count, to: 0x80, parameters: Self.local, at: now, into: &writer)
        return (ids, writer.bytes)
    }

    mutating func reconfigure(
        _ ids: [CreditBasedChannel.ID], mtu: UInt16, mps: UInt16
    ) throws(ChannelRequestError) -> [UInt8] {
        var writer = ByteWriter()
        try signalling.reconfigure(ids, mtu: mtu, mps: mps, at: now, into: &writer)
        return writer.bytes
    }
}

extension Array where Element == [UInt8] {
    /// The frames written in hexadecimal.
    static func frames(_ texts: String...) -> Self { texts.map { bytes($0) } }
}
