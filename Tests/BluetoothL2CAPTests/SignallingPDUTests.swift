import BluetoothBase
import BluetoothL2CAP
import TestSupport
import Testing

/// A command with its bytes; the identifier is 7 in all of them.
struct SignallingSample: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let encoded: [UInt8]
    let encode: @Sendable (inout ByteWriter) -> Void
    /// Whether the data of this command decodes to the PDU.
    let decodes: @Sendable ([UInt8]) throws -> Bool

    init<PDU: SignallingPDU>(_ pdu: PDU, _ text: String) {
        testDescription = "\(PDU.code)"
        encoded = bytes(text)
        encode = { pdu.encode(identifier: 7, into: &$0) }
        decodes = { data in try PDU(decoding: ByteReader(data.span)) == pdu }
    }

    static let all: [SignallingSample] = [
        .init(CommandReject(.commandNotUnderstood), "01 07 02 00 00 00"),
        .init(CommandReject(.signallingMTUExceeded(actual: 23)), "01 07 04 00 01 00 17 00"),
        .init(
            CommandReject(.invalidChannelIdentifier(local: 0x0040, remote: 0x0051)), "01 07 06 00 02 00 40 00 51 00"),
        .init(DisconnectionRequest(destination: 0x0040, source: 0x0051), "06 07 04 00 40 00 51 00"),
        .init(DisconnectionResponse(destination: 0x0040, source: 0x0051), "07 07 04 00 40 00 51 00"),
        .init(
            ConnectionParameterUpdateRequest(.init(intervalMin: 24, intervalMax: 40, latency: 4, timeout: 500)),
            "12 07 08 00 18 00 28 00 04 00 F4 01"),
        .init(ConnectionParameterUpdateResponse(.accepted), "13 07 02 00 00 00"),
        .init(ConnectionParameterUpdateResponse(.rejected), "13 07 02 00 01 00"),
        .init(
            LECreditBasedConnectionRequest(spsm: 0x0080, source: 0x0041, mtu: 256, mps: 64, initialCredits: 10),
            "14 07 0A 00 80 00 41 00 00 01 40 00 0A 00"),
        .init(
            LECreditBasedConnectionResponse(destination: 0x0042, mtu: 512, mps: 247, initialCredits: 3),
            "15 07 0A 00 42 00 00 02 F7 00 03 00 00 00"),
        .init(
            LECreditBasedConnectionResponse(refusing: .spsmNotSupported), "15 07 0A 00 00 00 00 00 00 00 00 00 02 00"),
        .init(FlowControlCredit(channel: 0x0041, credits: 0xFFFF), "16 07 04 00 41 00 FF FF"),
        .init(
            CreditBasedConnectionRequest(
                spsm: 0x0027, mtu: 64, mps: 65, initialCredits: 1, sources: [0x40, 0x41, 0x42, 0x43, 0x44]),
            "17 07 12 00 27 00 40 00 41 00 01 00 40 00 41 00 42 00 43 00 44 00"),
        .init(
            CreditBasedConnectionResponse(
                mtu: 64, mps: 64, initialCredits: 2, result: .noResourcesAvailable, destinations: [0x40, 0]),
            "18 07 0C 00 40 00 40 00 02 00 04 00 40 00 00 00"),
        .init(
            CreditBasedConnectionResponse(
                mtu: 0, mps: 0, initialCredits: 0, result: .invalidParameters, destinations: []),
            "18 07 08 00 00 00 00 00 00 00 0C 00"),
        .init(
            CreditBasedReconfigureRequest(mtu: 128, mps: 64, channels: [0x0040]), "19 07 06 00 80 00 40 00 40 00"),
        .init(CreditBasedReconfigureResponse(.mpsReductionNotAllowed), "1A 07 02 00 02 00"),
    ]
}

@Suite("L2CAP signalling PDUs")
struct SignallingPDUTests {
    @Test("each command is encoded and decoded", arguments: SignallingSample.all)
    func roundTrip(_ sample: SignallingSample) throws {
        #expect(written(sample.encode) == sample.encoded)
        let command = try SignallingCommand(decoding: sample.encoded.span)
        #expect(command.code == sample.encoded[0])
        #expect(command.identifier == 7)
        #expect(try sample.decodes(Array(command.data)))
    }

    @Test("L7: a command truncated anywhere, or with an extra byte, is rejected", arguments: SignallingSample.all)
    func length(_ sample: SignallingSample) throws {
        for count in 0..<sample.encoded.count {
            let cut = Array(sample.encoded.prefix(count))
            #expect(throws: DecodingFailure.self) { _ = try SignallingCommand(decoding: cut.span) }
        }
        let data = Array(sample.encoded.dropFirst(SignallingCommand.headerLength))
        for changed in [Array(data.dropLast()), data + [0]] {
            #expect((try? sample.decodes(changed)) != true)
        }
        #expect(throws: DecodingFailure.self) { _ = try sample.decodes([]) }
    }

    @Test(
        "L10: a list of channels that is not 1 to 5 whole identifiers is rejected",
        arguments: [("", 8), ("40", 8), ("40 00 41", 8), ("40 00 41 00 42 00 43 00 44 00 45 00", 8)])
    func channelLists(_ list: String, _ offset: Int) {
        let request = bytes("27 00 40 00 40 00 01 00" + list)
        #expect(throws: DecodingFailure(.invalidLength, at: offset)) {
            _ = try CreditBasedConnectionRequest(decoding: ByteReader(request.span))
        }
        let reconfiguration = bytes("40 00 40 00" + list)
        #expect(throws: DecodingFailure(.invalidLength, at: 4)) {
            _ = try CreditBasedReconfigureRequest(decoding: ByteReader(reconfiguration.span))
        }
    }

    @Test("reserved values are preserved")
    func reservedValues() throws {
        let reject = bytes("34 12 AA")
        #expect(try CommandReject(decoding: ByteReader(reject.span)) == CommandReject(.other(0x1234)))
        let update = bytes("02 00")
        #expect(try ConnectionParameterUpdateResponse(decoding: ByteReader(update.span)).result.rawValue == 2)
        let reconfigure = bytes("99 00")
        let response = try CreditBasedReconfigureResponse(decoding: ByteReader(reconfigure.span))
        #expect(response.result.rawValue == 0x0099)
    }
}
