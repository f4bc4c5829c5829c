import BluetoothBase
import BluetoothHCI
import BluetoothTrace
import TestSupport
import Testing

@Suite("Trace: monitor notes")
struct MonitorTests {
    private func text(_ opcode: BTSnoop.MonitorOpcode, _ data: String, showsKeys: Bool = false) -> String {
        var tracer = PacketTracer(showsKeys: showsKeys)
        return tracer.describe(note: bytes(data).span, opcode: opcode).text
    }

    @Test(
        "each kind of note",
        arguments: [
            (.newIndex, "00 01 01 00 01 01 AA 00 68 63 69 31 00 00 00 00", "00:AA:01:01:00:01/P primary USB hci1"),
            (.newIndex, "01 0B 01 00 01 01 AA 00 68 63 69 31 30 30 30 30", "00:AA:01:01:00:01/P AMP 0x0B hci10000"),
            (.deleteIndex, "", ""), (.openIndex, "", ""), (.closeIndex, "", ""),
            (.indexInfo, "01 00 01 01 AA 00 F1 05", "00:AA:01:01:00:01/P manufacturer 1521"),
            (.vendorDiagnostic, "01 02 03", "01 02 03"), (.systemNote, "4C 69 6E 75 78 20 36 2E 31 00", "Linux 6.1"),
            (.userLogging, "06 06 62 74 6D 6F 6E 00 68 69 0A 00", "info btmon: hi"),
            (.userLogging, "09 00 68 69", "0x09 : hi"),
            (
                .controlOpen,
                "01 00 00 00 02 00 01 16 00 01 00 00 00 10 62 74 6D 67 6D 74 00 00 00 00 00 00 00 00 00 00",
                "socket 1 management version 1.22 trusted btmgmt"
            ),
            (.controlOpen, "02 00 00 00 01 00 02 16 00 00 00 00 00 00", "socket 2 user version 2.22"),
            (.controlClose, "02 01 00 00", "socket 258"),
            (.controlCommand, "01 00 00 00 05 00 01", "socket 1 code 0x0005 01"),
            (.controlEvent, "01 00 00 00 01 00 05 00 00 D1 00 00 00", "socket 1 code 0x0001 05 00 00 D1 00 00 00"),
            (BTSnoop.MonitorOpcode(rawValue: 0x14), "AA BB", "AA BB"),
        ] as [(BTSnoop.MonitorOpcode, String, String)])
    func kinds(_ opcode: BTSnoop.MonitorOpcode, _ data: String, _ expected: String) {
        #expect(text(opcode, data) == (expected.isEmpty ? "\(opcode)" : "\(opcode) \(expected)"))
    }

    @Test("line breaks and terminal control characters are replaced")
    func terminal() {
        #expect(
            text(.systemNote, "61 0A 62 1B 5B 32 4A E2 80 AE FF 0A")
                == "System Note a\u{FFFD}b\u{FFFD}[2J\u{FFFD}\u{FFFD}")
    }

    @Test(
        "L3: a truncated note is shown as malformed",
        arguments: [
            (.newIndex, "00 01 01 00 01 01 AA 00 68 63 69 31", "truncated at byte 12: 4 more needed"),
            (.indexInfo, "01 00 01 01 AA 00 F1", "truncated at byte 7: 1 more needed"),
            (.userLogging, "06 09 62 74", "truncated at byte 4: 7 more needed"),
            (.controlOpen, "01 00 00 00 02 00", "truncated at byte 6: 1 more needed"),
        ] as [(BTSnoop.MonitorOpcode, String, String)])
    func malformed(_ opcode: BTSnoop.MonitorOpcode, _ data: String, _ reason: String) {
        var tracer = PacketTracer()
        let description = tracer.describe(note: bytes(data).span, opcode: opcode)
        #expect(description.text == "\(opcode) malformed, \(reason): \(data)")
        #expect(description.malformation == reason)
    }

    @Test(
        "keys are hidden unless requested",
        arguments: [
            // Load Link Keys, Load Long Term Keys, Load Identity Resolving Keys.
            (.controlCommand, "12 00 00 01 00 AA"), (.controlCommand, "13 00 01 00 AA"),
            (.controlCommand, "30 00 01 00 AA"),
            // New Link Key, New Long Term Key, New Identity Resolving Key, New Signature Resolving Key.
            (.controlEvent, "09 00 01 AA"), (.controlEvent, "0A 00 01 AA"), (.controlEvent, "18 00 01 AA"),
            (.controlEvent, "19 00 01 AA"),
            // Command Complete for Read Local Out Of Band Data.
            (.controlEvent, "01 00 20 00 00 AA"),
        ] as [(BTSnoop.MonitorOpcode, String)])
    func keys(_ opcode: BTSnoop.MonitorOpcode, _ data: String) {
        #expect(text(opcode, "01 00 00 00 " + data).hasSuffix("(hidden)"))
        #expect(text(opcode, "01 00 00 00 " + data, showsKeys: true).hasSuffix("AA"))
    }

    @Test(
        "fragments are discarded when an adapter appears, disappears, or is opened or closed",
        arguments: [
            (.newIndex, true), (.deleteIndex, true), (.openIndex, true), (.closeIndex, true), (.indexInfo, false),
            (.systemNote, false),
        ] as [(BTSnoop.MonitorOpcode, Bool)])
    func forgetting(_ opcode: BTSnoop.MonitorOpcode, _ forgets: Bool) {
        var tracer = PacketTracer()
        _ = tracer.describe(bytes("02 40 20 04 00 01 00 04 00").span, direction: .controllerToHost)
        _ = tracer.describe(note: bytes("").span, opcode: opcode)
        let text = tracer.describe(bytes("02 40 10 01 00 0B").span, direction: .controllerToHost).text
        #expect(text.contains("malformed") == forgets)
    }
}
