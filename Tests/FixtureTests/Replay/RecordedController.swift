import BluetoothATT
import BluetoothBase
import BluetoothHCI
import BluetoothL2CAP

/// Replaces a controller and its peer with the recording of them in a capture.
///
/// A command gets the recorded controller's answers to the same command, in order; the last one is repeated. An ATT
/// request gets the recorded peer's answer to the same bytes, followed at once by what the peer sent by itself before
/// the next request.
struct RecordedController {
    /// Packets from the host for which the capture has no answer.
    private(set) var unanswered: [[UInt8]] = []
    /// The payloads of the frames the host sent, in order, with their channels.
    private(set) var frames: [(channel: ChannelIdentifier, payload: [UInt8])] = []

    private let capture: Capture
    /// The unused answers to each command, in order.
    private var answers: [HCIOpcode: [[UInt8]]] = [:]
    /// Events that follow a command's Command Status, in order.
    private var outcomes: [Outcome: [[UInt8]]] = [:]
    private var exchanges: [Exchange] = []
    private var supportedCommands = SupportedCommands()
    private var reassembler = ACLReassembler(maximumFrameLength: 1024)

    /// The recorded response to a host's ATT PDU.
    private struct Exchange {
        /// Empty for frames before the first PDU.
        var request: [UInt8]
        /// The frames from the peer until the host's next request or command.
        var frames: [Capture.Frame] = []
        var isUsed = false
    }

    private enum Outcome: Hashable {
        case connection, disconnection, update
    }

    init(_ capture: Capture) throws {
        self.capture = capture
        for packet in capture.packets where packet.isFromController {
            guard let content = packet.content(of: .event) else { continue }
            switch try HCIEvent(decoding: content.span) {
            case .commandComplete(let complete):
                answers[complete.opcode, default: []].append(packet.bytes)
                if complete.opcode == .readLocalSupportedCommands {
                    supportedCommands = try complete.decodeReturnParameters(of: ReadLocalSupportedCommands.self)
                        .supportedCommands
                }
            case .commandStatus(let status): answers[status.opcode, default: []].append(packet.bytes)
            case .leConnectionComplete, .leEnhancedConnectionComplete:
                outcomes[.connection, default: []].append(packet.bytes)
            case .disconnectionComplete: outcomes[.disconnection, default: []].append(packet.bytes)
            case .leConnectionUpdateComplete: outcomes[.update, default: []].append(packet.bytes)
            default: continue
            }
        }
        exchanges = [Exchange(request: [])]
        for frame in try capture.frames() {
            if frame.isFromController {
                exchanges[exchanges.count - 1].frames.append(frame)
            } else if frame.channel == .attributeProtocol, frame.payload.first.map(Self.isRequestOrCommand) == true {
                exchanges.append(Exchange(request: frame.payload))
            }
        }
    }

    /// Receives a packet from the host, and returns the controller's packets in response.
    mutating func receive(_ packet: [UInt8]) throws -> [[UInt8]] {
        switch try HCIPacket(decoding: packet.span) {
        case .command(let command): return answer(command.opcode)
        case .aclData(let data):
            let handle = data.connectionHandle
            var sent = ByteWriter()
            NumberOfCompletedPackets.encodePacket(
                [CompletedPackets(connectionHandle: handle, count: 1)].span, into: &sent)
            switch reassembler.receive(data.data, boundary: data.boundary) {
            case .frame: return [sent.bytes] + (try receive(frame: L2CAPFrame(decoding: data.data)))
            case .reassembled:
                let frame = Array(reassembler.buffer)
                return [sent.bytes] + (try receive(frame: L2CAPFrame(decoding: frame.span)))
            case .incomplete, .dropped: return [sent.bytes]
            }
        case .event, .synchronousData, .isoData:
            unanswered.append(packet)
            return []
        }
    }

    /// The recorded connection, without its data.
    mutating func link() -> [[UInt8]] { take(.connection) }

    /// The recorded end of a link that the peer ended.
    mutating func disconnect() -> [[UInt8]] { take(.disconnection) }

    /// Removes the oldest frame on the ATT channel from `frames`.
    mutating func takeFrame() -> [UInt8]? {
        guard let index = frames.firstIndex(where: { $0.channel == .attributeProtocol }) else { return nil }
        return frames.remove(at: index).payload
    }

    /// The packets of a recorded frame.
    func packets(of frame: Capture.Frame) -> [[UInt8]] { frame.packets.map { capture.packets[$0].bytes } }

    // MARK: Commands

    private mutating func answer(_ opcode: HCIOpcode) -> [[UInt8]] {
        switch opcode {
        case .leCreateConnection, .leExtendedCreateConnection:
            let other: HCIOpcode = opcode == .leCreateConnection ? .leExtendedCreateConnection : .leCreateConnection
            return [status(of: opcode, or: other)] + take(.connection) + react(to: 0)
        case .disconnect: return [status(of: opcode, or: opcode)] + take(.disconnection)
        case .leConnectionUpdate: return [status(of: opcode, or: opcode)] + take(.update)
        default: return [recordedAnswer(to: opcode) ?? substitute(for: opcode)]
        }
    }

    private mutating func recordedAnswer(to opcode: HCIOpcode) -> [UInt8]? {
        guard let first = answers[opcode]?.first else { return nil }
        if answers[opcode, default: []].count > 1 { answers[opcode]?.removeFirst() }
        return first
    }

    /// Command Status as recorded, for this command or for the one the recorded host used for the same purpose.
    private mutating func status(of opcode: HCIOpcode, or other: HCIOpcode) -> [UInt8] {
        guard var answer = recordedAnswer(to: opcode) ?? recordedAnswer(to: other) else {
            return substitute(for: opcode)
        }
        answer.replaceSubrange(5..<7, with: [UInt8(opcode.rawValue & 0xFF), UInt8(opcode.rawValue >> 8)])
        return answer
    }

    /// The answer to a command that the recorded host did not use: it succeeds if it returns nothing and the recorded
    /// controller supports it.
    private func substitute(for opcode: HCIOpcode) -> [UInt8] {
        var isDone = false
        if let command = HCICommandCatalog.entry(for: opcode)?.command, supportedCommands.contains(opcode) {
            isDone = returnsNothing(command)
        }
        var writer = ByteWriter()
        CommandComplete(opcode: opcode, returnParameters: [isDone ? 0x00 : 0x01].span).encodePacket(into: &writer)
        return writer.bytes
    }

    private func returnsNothing<Command: HCICommand>(_: Command.Type) -> Bool {
        Command.ReturnParameters.self == NoReturnParameters.self
    }

    private mutating func take(_ outcome: Outcome) -> [[UInt8]] {
        guard let event = outcomes[outcome]?.first else { return [] }
        outcomes[outcome]?.removeFirst()
        return [event]
    }

    // MARK: Frames

    private mutating func receive(frame: borrowing L2CAPFrame) throws -> [[UInt8]] {
        let payload = Array(frame.payload)
        frames.append((frame.channel, payload))
        guard frame.channel == .attributeProtocol, Self.isRequestOrCommand(payload[0]) else { return [] }
        if let next = exchanges.firstIndex(where: { !$0.isUsed && $0.request == payload }) { return react(to: next) }
        // If asked again, the peer gives the same answer, without notifications.
        guard let last = exchanges.last(where: { $0.request == payload }), let response = last.frames.first else {
            unanswered.append(payload)
            return []
        }
        return packets(of: response)
    }

    private mutating func react(to index: Int) -> [[UInt8]] {
        exchanges[index].isUsed = true
        return exchanges[index].frames.flatMap { packets(of: $0) }
    }

    private static func isRequestOrCommand(_ opcode: UInt8) -> Bool {
        [.request, .command].contains(ATTOpcode.Kind(ofOpcode: opcode))
    }
}
