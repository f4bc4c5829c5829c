import BluetoothBase
import BluetoothL2CAP

/// Checks the credit-based channels of one link, by the first fragment of each frame: every K-frame needs a credit,
/// must not exceed the peer's MPS, and must be sent on an open channel.
struct ChannelInspector: Sendable {
    /// The limits of the peer on a channel, by its endpoint there.
    private struct Limits {
        var credits: Int
        var mps: Int
        /// This host's endpoint. The peer's endpoint may already belong to another channel when the disconnection of
        /// the previous one is answered.
        var own: UInt16 = 0

        func with(own: UInt16) -> Limits { Limits(credits: credits, mps: mps, own: own) }
    }

    /// A request of the peer that awaits this host's response.
    private struct Request {
        var sources: [UInt16]
        var limits: Limits
    }

    private var open: [UInt16: Limits] = [:]
    private var peerRequests: [UInt8: Request] = [:]
    /// The endpoints in this host's connection requests, by request identifier.
    private var ownRequests: [UInt8: [UInt16]] = [:]

    static let signalling: UInt16 = 0x0005

    mutating func sent(_ packet: Span<UInt8>) -> HCIInspector.Finding? {
        guard let frame = Frame(packet) else { return nil }
        if frame.channel == Self.signalling {
            if let command = Command(packet) { sent(command) }
            return nil
        }
        guard ChannelIdentifier(frame.channel).isLEDynamic else { return nil }
        guard var limits = open[frame.channel] else {
            return .init(rule: .channelCredit, text: "a K-frame to endpoint \(frame.channel), which is not open")
        }
        guard limits.credits > 0 else {
            return .init(rule: .channelCredit, text: "a K-frame to endpoint \(frame.channel) without a credit")
        }
        guard frame.length <= limits.mps else {
            return .init(rule: .channelCredit, text: "a K-frame of \(frame.length) octets at an MPS of \(limits.mps)")
        }
        limits.credits -= 1
        open[frame.channel] = limits
        return nil
    }

    mutating func received(_ packet: Span<UInt8>) {
        guard let frame = Frame(packet), frame.channel == Self.signalling, let command = Command(packet) else { return }
        received(command)
    }

    private mutating func sent(_ command: Command) {
        switch command.code {
        case .leCreditBasedConnectionRequest: ownRequests[command.identifier] = command[1].map { [$0] }
        case .creditBasedConnectionRequest: ownRequests[command.identifier] = command.words(from: 4)
        case .leCreditBasedConnectionResponse:
            guard let request = peerRequests.removeValue(forKey: command.identifier), command[4] == 0 else { return }
            open[request.sources[0]] = request.limits.with(own: command[0] ?? 0)
        case .creditBasedConnectionResponse:
            guard let request = peerRequests.removeValue(forKey: command.identifier) else { return }
            for (source, own) in zip(request.sources, command.words(from: 4)) where own != 0 {
                open[source] = request.limits.with(own: own)
            }
        case .disconnectionRequest: open[command[0] ?? 0] = nil
        case .disconnectionResponse:
            guard let own = command[0], let peers = command[1], open[peers]?.own == own else { return }
            open[peers] = nil
        default: return
        }
    }

    private mutating func received(_ command: Command) {
        switch command.code {
        case .leCreditBasedConnectionRequest:
            guard let source = command[1], let mps = command[3], let credits = command[4] else { return }
            note(Request(sources: [source], limits: Limits(credits: Int(credits), mps: Int(mps))), command)
        case .creditBasedConnectionRequest:
            guard let mps = command[2], let credits = command[3] else { return }
            note(
                Request(sources: command.words(from: 4), limits: Limits(credits: Int(credits), mps: Int(mps))), command)
        case .leCreditBasedConnectionResponse:
            guard let own = ownRequests.removeValue(forKey: command.identifier)?.first, command[4] == 0,
                let endpoint = command[0], let mps = command[2], let credits = command[3]
            else { return }
            open[endpoint] = Limits(credits: Int(credits), mps: Int(mps), own: own)
        case .creditBasedConnectionResponse:
            guard let mps = command[1], let credits = command[2],
                let sources = ownRequests.removeValue(forKey: command.identifier)
            else { return }
            for (endpoint, own) in zip(command.words(from: 4), sources) where endpoint != 0 {
                open[endpoint] = Limits(credits: Int(credits), mps: Int(mps), own: own)
            }
        case .flowControlCredit:
            guard let endpoint = command[0], let credits = command[1] else { return }
            open[endpoint]?.credits += Int(credits)
        case .creditBasedReconfigureRequest:
            // Frames of the previous MPS may still be in transit.
            guard let mps = command[1] else { return }
            for endpoint in command.words(from: 2) { open[endpoint]?.mps.formMaximum(with: Int(mps)) }
        default: return
        }
    }

    /// Stores a request. Unanswered requests are bounded by the number of identifiers.
    private mutating func note(_ request: Request, _ command: Command) {
        if !request.sources.isEmpty { peerRequests[command.identifier] = request }
    }

    // MARK: - Frames

    /// The header at the beginning of a frame.
    struct Frame {
        let length: Int
        let channel: UInt16

        init?(_ packet: Span<UInt8>) {
            guard packet.count > 9, packet[2] >> 4 & 0b11 != 0b01 else { return nil }
            length = Int(packet[5]) | Int(packet[6]) << 8
            channel = UInt16(packet[7]) | UInt16(packet[8]) << 8
        }
    }

    /// A command that is contained in one packet, as the words after its header.
    struct Command {
        let code: SignallingCode
        let identifier: UInt8
        private let data: [UInt16]

        init?(_ packet: Span<UInt8>) {
            guard packet.count >= 13, let code = SignallingCode(rawValue: packet[9]) else { return nil }
            self.code = code
            identifier = packet[10]
            data = stride(from: 13, to: packet.count - 1, by: 2).map {
                UInt16(packet[$0]) | UInt16(packet[$0 + 1]) << 8
            }
        }

        subscript(index: Int) -> UInt16? { index < data.count ? data[index] : nil }
        func words(from start: Int) -> [UInt16] { Array(data.dropFirst(start)) }
    }
}

extension Int {
    fileprivate mutating func formMaximum(with other: Int) { self = Swift.max(self, other) }
}
