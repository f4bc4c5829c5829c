import BluetoothATT
import BluetoothBase
import BluetoothHCI
import BluetoothL2CAP
import TestSupport
import Testing

@Suite("Fixtures: data")
struct DataFixtureTests {
    @Test("every data packet is encoded to the same bytes", arguments: Capture.all)
    func packets(_ capture: Capture) throws {
        for packet in capture.packets {
            guard let content = packet.content(of: .aclData) else { continue }
            #expect(encoded(try ACLDataPacket(decoding: content.span)) == packet.bytes)
        }
    }

    @Test("every frame is reassembled, and encoded to the same data", arguments: Capture.all)
    func frames(_ capture: Capture) throws {
        for frame in try capture.frames() {
            let data = frame.packets.flatMap { capture.packets[$0].bytes.dropFirst(5) }
            let again = written { L2CAPFrame(channel: frame.channel, payload: frame.payload.span).encode(into: &$0) }
            #expect(again == data)
        }
    }

    @Test("every frame is on an existing channel", arguments: Capture.all)
    func channels(_ capture: Capture) throws {
        let fixed: Set<ChannelIdentifier> = [.attributeProtocol, .leSignalling, .securityManager]
        let hasChannels = capture.name.hasSuffix("channel-central") || capture.name.hasSuffix("channel-peripheral")
        let opened: Set<ChannelIdentifier> =
            capture.hasEnhancedBearers ? [0x0040, 0x0041] : hasChannels ? [0x0040] : []
        let used = Set(try capture.frames().map(\.channel))
        #expect(used.isSubset(of: fixed.union(opened)))
        #expect(opened.isSubset(of: used))
    }

    @Test("every ATT PDU is decoded to its own type, and encoded to the same bytes", arguments: Capture.all)
    func attributeProtocol(_ capture: Capture) throws {
        for pdu in try capture.attributePDUs() {
            let message = try ATTMessage(decoding: pdu.span)
            #expect(encoded(message) == pdu)
            if case .unknown = message { Issue.record("no type for \(pdu.hexadecimal())") }
        }
    }

    @Test("the captures contain every ATT PDU except the Signed Write Command")
    func variety() throws {
        let opcodes = Set(try Capture.all.flatMap { try $0.attributePDUs() }.map { $0[0] })
        let missing = ATTOpcode.allCases.filter { !opcodes.contains($0.rawValue) }
        #expect(missing == [.signedWriteCommand])
    }

    @Test(
        "every signalling command is decoded to its own type, and encoded to the same bytes", arguments: Capture.all
    )
    func signalling(_ capture: Capture) throws {
        for frame in try capture.frames() where frame.channel == .leSignalling {
            let command = try SignallingCommand(decoding: frame.payload.span)
            let again = try recoded(command)
            #expect(again == frame.payload, "\(again?.hexadecimal() ?? "no type")")
        }
    }

    /// A command, written from the fields of its own type; nil if there is none.
    private func recoded(_ command: borrowing SignallingCommand) throws(DecodingFailure) -> [UInt8]? {
        switch SignallingCode(rawValue: command.code) {
        case .commandReject: try recoded(command, as: CommandReject.self)
        case .disconnectionRequest: try recoded(command, as: DisconnectionRequest.self)
        case .disconnectionResponse: try recoded(command, as: DisconnectionResponse.self)
        case .connectionParameterUpdateRequest: try recoded(command, as: ConnectionParameterUpdateRequest.self)
        case .connectionParameterUpdateResponse: try recoded(command, as: ConnectionParameterUpdateResponse.self)
        case .leCreditBasedConnectionRequest: try recoded(command, as: LECreditBasedConnectionRequest.self)
        case .leCreditBasedConnectionResponse: try recoded(command, as: LECreditBasedConnectionResponse.self)
        case .flowControlCredit: try recoded(command, as: FlowControlCredit.self)
        case .creditBasedConnectionRequest: try recoded(command, as: CreditBasedConnectionRequest.self)
        case .creditBasedConnectionResponse: try recoded(command, as: CreditBasedConnectionResponse.self)
        case .creditBasedReconfigureRequest: try recoded(command, as: CreditBasedReconfigureRequest.self)
        case .creditBasedReconfigureResponse: try recoded(command, as: CreditBasedReconfigureResponse.self)
        case .connectionRequest, .connectionResponse, .configurationRequest, .configurationResponse, .echoRequest,
            .echoResponse, .informationRequest, .informationResponse, nil:
            nil
        }
    }

    private func recoded<PDU: SignallingPDU>(
        _ command: borrowing SignallingCommand, as type: PDU.Type
    ) throws(DecodingFailure) -> [UInt8] {
        let pdu = try PDU(decoding: ByteReader(command.data))
        var writer = ByteWriter()
        pdu.encode(identifier: command.identifier, into: &writer)
        return writer.bytes
    }
}

extension Capture {
    /// Whether there are ATT bearers on credit-based channels. BlueZ opens two where both sides are BlueZ.
    fileprivate var hasEnhancedBearers: Bool { name.contains("enhanced-bearer") || name.contains("bluez-to-bluez") }

    /// Every ATT PDU, those on enhanced bearers included.
    fileprivate func attributePDUs() throws -> [[UInt8]] {
        var pieces: [Piece: [UInt8]] = [:]
        return try frames().compactMap { frame in
            if frame.channel == .attributeProtocol { return frame.payload }
            guard hasEnhancedBearers, frame.channel.isLEDynamic else { return nil }
            // A K-frame: an SDU begins with its length, and continues in further frames if it is long.
            let piece = Piece(isFromController: frame.isFromController, channel: frame.channel)
            let sdu = pieces[piece, default: []] + frame.payload
            let length = try #require(sdu.count >= 2 ? Int(sdu[0]) | Int(sdu[1]) << 8 : nil)
            try #require(sdu.count - 2 <= length)
            pieces[piece] = sdu.count - 2 < length ? sdu : nil
            return pieces[piece] == nil ? Array(sdu.dropFirst(2)) : nil
        }
    }

    /// The channel of the SDU.
    private struct Piece: Hashable {
        var isFromController: Bool
        var channel: ChannelIdentifier
    }
}
