import BluetoothBase
import BluetoothHCI
import TestSupport
import Testing

@Suite("Events, byte for byte")
struct EventCodecTests {
    @Test("each value encodes to its packet", arguments: EventSamples.all)
    func encoding(_ sample: EventSample) {
        #expect(written { sample.encode(&$0) } == sample.packet)
    }

    @Test("each packet decodes to a known event that encodes to the same bytes", arguments: EventSamples.all)
    func roundTrip(_ sample: EventSample) throws {
        let event = try HCIEvent(decoding: sample.packet.span.extracting(droppingFirst: 1))
        switch event {
        case .unknown, .unknownLE: Issue.record("not known")
        default: break
        }
        #expect(written { event.encodePacket(into: &$0) } == sample.packet)
    }

    @Test("H1: truncated parameters throw, and never trap", arguments: EventSamples.all)
    func truncation(_ sample: EventSample) {
        let parameters = sample.packet.dropFirst(3)
        for length in 0..<sample.requiredLength {
            let packet = [sample.packet[1], UInt8(length)] + parameters.prefix(length)
            #expect(throws: DecodingFailure.self, "\(length) bytes") { _ = try HCIEvent(decoding: packet.span) }
        }
    }

    @Test("H1: a wrong length field throws", arguments: EventSamples.all)
    func wrongLength(_ sample: EventSample) {
        for length in 0..<(sample.packet.count - 1) {
            #expect(throws: DecodingFailure.self) {
                _ = try HCIEvent(decoding: sample.packet[1..<(1 + length)].span)
            }
        }
        #expect(throws: DecodingFailure(.invalidLength, at: 1)) {
            _ = try HCIEvent(decoding: (Array(sample.packet.dropFirst()) + [0]).span)
        }
    }

    @Test("parameters added by a later version are ignored")
    func trailingParameters() throws {
        guard case .hardwareError(let event) = try HCIEvent(decoding: bytes("10 02 42 99").span) else {
            Issue.record("not a Hardware Error")
            return
        }
        #expect(event.hardwareCode == 0x42)
    }

    @Test(
        "unknown events are kept raw", arguments: ["04 FF 03 01 02 03", "04 3E 03 99 01 02", "04 FF 00", "04 3E 01 99"])
    func unknown(_ text: String) throws {
        let packet = bytes(text)
        let event = try HCIEvent(decoding: packet.span.extracting(droppingFirst: 1))
        #expect(written { event.encodePacket(into: &$0) } == packet)
        switch event {
        case .unknown(let code, _): #expect(code.description == "Event 0xFF")
        case .unknownLE(let code, _): #expect(code.description == "LE Meta event 0x99")
        default: Issue.record("known")
        }
    }

    @Test("H5: a connection with an invalid role or handle is still decoded, so that the host can close it")
    func impossibleConnection() throws {
        let packet = bytes("3E 13 01 00 01 0F 02 01 55 44 33 22 11 C0 18 00 01 00 F4 01 05")
        guard case .leConnectionComplete(let event) = try HCIEvent(decoding: packet.span) else {
            Issue.record("not a Connection Complete")
            return
        }
        #expect(event.role != .central && event.role != .peripheral)
        #expect(!event.connectionHandle.isValid)
    }

    @Test(
        "H5: a failed connection is reported, whatever follows its status",
        arguments: [
            "3E 13 01 3E FF FF FF FF FF FF FF FF FF FF FF FF FF FF FF FF FF",
            "3E 1F 0A 3E FF FF FF FF FF FF FF FF FF FF FF FF FF FF FF FF FF FF FF FF FF FF FF FF FF FF FF FF FF",
        ])
    func failedConnection(_ text: String) throws {
        let packet = bytes(text)
        switch try HCIEvent(decoding: packet.span) {
        case .leConnectionComplete(let event): #expect(event.status == .connectionFailedToBeEstablished)
        case .leEnhancedConnectionComplete(let event): #expect(event.status == .connectionFailedToBeEstablished)
        default: Issue.record("not a Connection Complete")
        }
        let successful = Array(packet[..<3]) + [0] + packet[4...]
        #expect(throws: DecodingFailure(.invalidValue, at: 7)) { _ = try HCIEvent(decoding: successful.span) }
    }

    @Test(
        "H5: a failed synchronization is reported, whatever follows its status",
        arguments: [
            ("3E 10 0E 3E FF FF FF FF FF FF FF FF FF FF FF FF FF FF", 7),
            ("3E 14 24 3E FF FF FF FF FF FF FF FF FF FF FF FF FF FF FF FF FF FF", 7),
            ("3E 14 18 3E FF FF FF FF FF FF FF FF FF FF FF FF FF FF FF FF FF FF", 11),
            ("3E 18 26 3E FF FF FF FF FF FF FF FF FF FF FF FF FF FF FF FF FF FF FF FF FF FF", 11),
        ])
    func failedSynchronization(_ text: String, offset: Int) throws {
        let packet = bytes(text)
        let status: HCIStatus? =
            switch try HCIEvent(decoding: packet.span) {
            case .lePeriodicAdvertisingSyncEstablished(let event): event.status
            case .lePeriodicAdvertisingSyncEstablishedV2(let event): event.status
            case .lePeriodicAdvertisingSyncTransferReceived(let event): event.status
            case .lePeriodicAdvertisingSyncTransferReceivedV2(let event): event.status
            default: nil
            }
        #expect(status == .connectionFailedToBeEstablished)
        let successful = Array(packet[..<3]) + [0] + packet[4...]
        #expect(throws: DecodingFailure(.invalidValue, at: offset)) { _ = try HCIEvent(decoding: successful.span) }
    }

    @Test("a Command Complete without return parameters has no status")
    func noStatus() throws {
        guard case .commandComplete(let event) = try HCIEvent(decoding: bytes("0E 03 01 00 00").span) else {
            Issue.record("not a Command Complete")
            return
        }
        #expect(event.opcode == .none)
        #expect(event.status == nil)
    }
}
