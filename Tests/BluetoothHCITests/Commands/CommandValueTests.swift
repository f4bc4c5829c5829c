import BluetoothBase
import BluetoothHCI
import TestSupport
import Testing

@Suite("Values in commands")
struct CommandValueTests {
    @Test(
        "a value that the specification does not allow is rejected, at its byte",
        arguments: [
            ("0C 20 02 02 00", 0), ("06 20 0F 20 00 20 00 05 00 00 00 00 00 00 00 00 07 00", 4),
            ("06 20 0F 20 00 20 00 00 04 00 00 00 00 00 00 00 07 00", 5),
            ("11 20 07 04 00 00 00 00 00 00", 0), ("41 20 08 00 00 02 00 10 00 10 00", 2),
            ("43 20 0A 00 00 00 00 00 00 00 00 00 08", 9), ("37 20 04 00 05 00 00", 1),
        ])
    func invalidValue(_ packet: String, _ offset: Int) {
        #expect(throws: DecodingFailure(.invalidValue, at: offset)) {
            _ = try HCICommandPacket(decoding: bytes(packet).span).decodeKnown()
        }
    }

    @Test("a length larger than the field is rejected", arguments: ["08 20 20 20", "09 20 20 FF"])
    func invalidLength(_ start: String) {
        let packet = bytes(start) + [UInt8](repeating: 0, count: 31)
        #expect(throws: DecodingFailure(.invalidLength, at: 0)) {
            _ = try HCICommandPacket(decoding: packet.span).decodeKnown()
        }
    }

    @Test("data that does not fit into a packet is truncated")
    func overlongData() {
        let data = [UInt8](repeating: 0xAB, count: 300)
        let legacy = written { LESetAdvertisingData(data: data).encodePacket(into: &$0) }
        #expect(legacy == bytes("01 08 20 20 1F") + data.prefix(31))
        let extended = written {
            LESetExtendedAdvertisingData(advertisingHandle: .init(0), fragment: .init(data: data))
                .encodePacket(into: &$0)
        }
        #expect(extended == bytes("01 37 20 FF 00 03 01 FB") + data.prefix(251))
        let links = Array(repeating: CompletedPackets(connectionHandle: 1, count: 1), count: 70)
        let completed = written { HostNumberOfCompletedPackets(links: links).encodePacket(into: &$0) }
        #expect(completed.count == 4 + 1 + 63 * 4)
        #expect(completed[3] == 253)
    }

    @Test("a connection handle has 12 bits, and the highest 256 are reserved")
    func connectionHandle() {
        #expect(ConnectionHandle(0xF123).rawValue == 0x0123)
        #expect(ConnectionHandle(0x0EFF).isValid)
        #expect(!ConnectionHandle(0x0F00).isValid)
        #expect(ConnectionHandle(0x40).description == "0x0040")
    }

    @Test("durations are converted to units, and clamped to their ranges")
    func times() {
        #expect(ConnectionInterval(clamping: .milliseconds(30)).rawValue == 24)
        #expect(ConnectionInterval(rawValue: 24).duration == .milliseconds(30))
        #expect(ConnectionInterval(clamping: .zero).rawValue == 6)
        #expect(ConnectionInterval(clamping: .seconds(Int64.max)).rawValue == 3200)
        #expect(SupervisionTimeout(clamping: .seconds(5)).rawValue == 500)
        #expect(SupervisionTimeout(rawValue: 500).duration == .seconds(5))
        #expect(SupervisionTimeout(clamping: .seconds(-1)).rawValue == 10)
        #expect(LESlots(clamping: .milliseconds(10)).rawValue == 16)
        #expect(LESlots(rawValue: 16).duration == .milliseconds(10))
        #expect(LESlots(clamping: .seconds(1_000_000)).rawValue == 0xFF_FFFF)
    }

    @Test("supported commands are found by opcode")
    func supportedCommands() {
        let supported: SupportedCommands = [.leExtendedCreateConnection]
        #expect(supported.contains(octet: 37, bit: 7))
        #expect(supported.contains(.leExtendedCreateConnection))
        #expect(!supported.contains(.leSetExtendedScanEnable))
        #expect(supported.contains(.readLocalSupportedCommands))
        #expect(!supported.contains(HCIOpcode(rawValue: 0xFC01)))
        #expect(!supported.contains(octet: 64, bit: 0))
        #expect(!supported.contains(octet: -1, bit: 9))
    }

    @Test("names match the specification")
    func names() {
        #expect(HCIOpcode.leSetScanEnable.description == "LE Set Scan Enable")
        #expect(HCIOpcode.readBDADDR.description == "Read BD_ADDR")
        #expect(HCIOpcode.leSetScanEnable.rawValue == 0x200C)
        #expect(HCIOpcode.leSetScanEnable.group == .leController)
        #expect(HCIStatus.connectionFailedToBeEstablished.rawValue == 0x3E)
        #expect(HCIStatus.connectionTimeout.description == "Connection Timeout")
        #expect(HCIStatus(rawValue: 0xF0).description == "Error 0xF0")
        #expect(CoreVersion.v54.description == "5.4")
        #expect(CoreVersion(rawValue: 0x0E).description == "version 0x0E")
    }
}
