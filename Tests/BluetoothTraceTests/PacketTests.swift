import BluetoothBase
import BluetoothTrace
import TestSupport
import Testing

@Suite("Trace: commands and events")
struct PacketTests {
    @Test(
        "commands",
        arguments: [
            ("01 0C 20 02 01 00", "LE Set Scan Enable enabled true filter duplicates false"),
            ("01 03 0C 00", "Reset"),
            (
                "01 0B 20 07 01 10 00 08 00 01 00",
                "LE Set Scan Parameters type active interval 10 ms window 5 ms own address type random filter policy all"
            ),
            ("01 06 04 03 40 00 13", "Disconnect handle 0x0040 reason Remote User Terminated Connection"),
            ("01 7E 20 04 40 00 01 00", "LE Subrate Request handle 0x0040 01 00"),
            ("01 89 20 00", "LE CS Read Local Supported Capabilities"),
            ("01 01 FC 02 AA BB", "Command 0xFC01 AA BB"), ("01 02 FC 00", "Command 0xFC02"),
            // Cut short in the header, in the parameters, and too long.
            ("01", "command malformed, truncated at byte 0: 2 more needed"),
            ("01 0C", "command malformed, truncated at byte 1: 1 more needed: 0C"),
            ("01 0C 20 02 01", "command malformed, invalid length at byte 2: 0C 20 02 01"),
            ("01 0C 20 01 01", "LE Set Scan Enable malformed, truncated at byte 4: 1 more needed: 0C 20 01 01"),
            (
                "01 0C 20 03 01 00 00",
                "LE Set Scan Enable malformed, 1 unexpected bytes from byte 5: 0C 20 03 01 00 00"
            ),
            ("01 0C 20 02 01 02", "LE Set Scan Enable malformed, invalid value at byte 4: 0C 20 02 01 02"),
        ])
    func commands(_ packet: String, _ text: String) {
        #expect(trace(packet) == "CMD " + text)
    }

    @Test(
        "field names are written as words",
        arguments: [
            (
                "04 0E 0C 01 01 10 00 0D 34 12 0D 0F 00 78 56",
                "Read Local Version Information status Success HCI version 5.4 HCI subversion 4660 LMP version 5.4 "
                    + "company identifier 15 LMP subversion 22136"
            ),
            ("04 0E 07 01 05 14 00 40 00 C4", "Read RSSI status Success handle 0x0040 RSSI -60"),
            (
                "04 0E 0A 01 60 20 00 FB 00 08 00 00 00",
                "LE Read Buffer Size [v2] status Success ACL data packet length 251 total ACL data packets 8 "
                    + "ISO data packet length 0 total ISO data packets 0"
            ),
        ])
    func fieldNames(_ packet: String, _ text: String) {
        #expect(trace(packet) == "EVT Command Complete " + text)
    }

    @Test(
        "events",
        arguments: [
            ("04 05 04 00 40 00 08", "Disconnection Complete status Success handle 0x0040 reason Connection Timeout"),
            (
                "04 3E 13 01 00 40 00 00 01 55 44 33 22 11 C0 18 00 04 00 F4 01 05",
                "LE Connection Complete status Success handle 0x0040 role central peer address C0:11:22:33:44:55 "
                    + "interval 30 ms latency 4 supervision timeout 5000 ms central clock accuracy 0x05"
            ),
            (
                "04 3E 0A 03 00 40 00 06 00 00 00 64 00",
                "LE Connection Update Complete status Success handle 0x0040 interval 7.5 ms latency 0 "
                    + "supervision timeout 1000 ms"
            ),
            ("04 0E 04 01 03 0C 00", "Command Complete Reset status Success"),
            ("04 0E 04 01 0C 20 0C", "Command Complete LE Set Scan Enable status Command Disallowed"),
            (
                "04 0E 0A 01 09 10 00 55 44 33 22 11 00",
                "Command Complete Read BD_ADDR status Success address 00:11:22:33:44:55/P"
            ),
            ("04 0E 03 05 00 00", "Command Complete credits 5"),
            // Without a type in this package, but about a link.
            (
                "04 0E 08 01 75 20 00 40 00 01 F4",
                "Command Complete LE Read ISO Link Quality status Success handle 0x0040 01 F4"
            ),
            ("04 0E 06 01 01 FC 00 AA BB", "Command Complete Command 0xFC01 00 AA BB"),
            ("04 0F 04 00 01 0D 20", "Command Status LE Create Connection status Success"),
            ("04 13 09 02 40 00 02 00 41 00 01 00", "Number Of Completed Packets 0x0040 2, 0x0041 1"),
            (
                "04 3E 0F 02 01 00 01 55 44 33 22 11 C0 03 02 01 06 C4",
                "LE Advertising Report ADV_IND C0:11:22:33:44:55 RSSI -60 data 02 01 06"
            ),
            (
                "04 3E 0C 02 01 04 00 55 44 33 22 11 00 00 7F",
                "LE Advertising Report SCAN_RSP 00:11:22:33:44:55/P RSSI 127 data empty"
            ),
            (
                "04 3E 1D 0D 01 10 00 01 55 44 33 22 11 C0 01 00 FF 7F C4 00 00 00 00 00 00 00 00 00 03 02 01 06",
                "LE Extended Advertising Report type 0x0010 C0:11:22:33:44:55 RSSI -60 data 02 01 06"
            ),
            (
                "04 3E 1A 0D 01 00 00 FF 00 00 00 00 00 00 01 00 05 7F C4 00 00 00 00 00 00 00 00 00 00",
                "LE Extended Advertising Report type 0x0000 anonymous RSSI -60 SID 5 data empty"
            ),
            (
                "04 3E 12 0B 01 01 01 55 44 33 22 11 C0 01 66 44 33 22 11 40 C4",
                "LE Directed Advertising Report ADV_DIRECT_IND C0:11:22:33:44:55 to 40:11:22:33:44:66/R RSSI -60"
            ),
            // Without a type in this package, but with a name, a status and a link.
            ("04 3E 06 23 00 40 00 01 00", "LE Subrate Change status Success handle 0x0040 01 00"),
            ("04 3E 05 16 40 00 32 01", "LE Connection IQ Report handle 0x0040 32 01"),
            ("04 3E 03 19 00 40", "LE CIS Established [v1] 00 40"),
            ("04 3E 05 20 40 00 32 01", "LE Path Loss Threshold handle 0x0040 current path loss 50 zone entered 0x01"),
            (
                "04 3E 0A 0F 02 01 7F C4 FF 00 02 AA BB",
                "LE Periodic Advertising Report [v1] sync handle 0x0102 RSSI -60 status 0 data AA BB"
            ),
            (
                "04 3E 0B 28 02 05 00 01 7F C4 FF 03 00 00",
                "LE Periodic Advertising Response Report set 2 subevent 5 slot 3 RSSI -60 status 0 data empty"
            ),
            ("04 3E 02 09 00", "LE Generate DHKey Complete (hidden)"),
            ("04 3E 02 7E AA", "LE Meta event 0x7E AA"), ("04 FF 02 01 02", "Event 0xFF 01 02"),
        ])
    func events(_ packet: String, _ text: String) {
        #expect(trace(packet) == "EVT " + text)
    }

    @Test(
        "malformed events",
        arguments: [
            ("04", "event malformed, truncated at byte 0: 1 more needed"),
            ("04 05", "Disconnection Complete malformed, truncated at byte 1: 1 more needed: 05"),
            ("04 05 04 00 40 00", "Disconnection Complete malformed, invalid length at byte 1: 05 04 00 40 00"),
            (
                "04 05 03 00 40 00",
                "Disconnection Complete malformed, truncated at byte 5: 1 more needed: 05 03 00 40 00"
            ),
            ("04 3E 00", "LE Meta malformed, truncated at byte 2: 1 more needed: 3E 00"),
            (
                "04 3E 02 01 00",
                "LE Connection Complete malformed, truncated at byte 4: 2 more needed: 3E 02 01 00"
            ),
            (
                "04 0E 05 01 09 10 00 55",
                "Command Complete Read BD_ADDR malformed, truncated at byte 2: 5 more needed: 00 55"
            ),
            // H2: a list cut short, and one of a handle that does not exist.
            ("04 13 05 02 40 00 FF FF", "Number Of Completed Packets 0x0040 65535, malformed, cut short"),
            // H3: 25 reports announced, one there, and one whose data runs past the end.
            (
                "04 3E 0C 02 19 04 00 55 44 33 22 11 00 00 7F",
                "LE Advertising Report SCAN_RSP 00:11:22:33:44:55/P RSSI 127 data empty; malformed report"
            ),
            ("04 3E 0D 02 01 00 01 55 44 33 22 11 C0 FF 02 C4", "LE Advertising Report malformed report"),
        ])
    func malformedEvents(_ packet: String, _ text: String) {
        #expect(trace(packet) == "EVT " + text)
    }

    @Test(
        "other packets",
        arguments: [
            ("03 40 00 01 AA", "SCO 40 00 01 AA"), ("05 40 00", "ISO 40 00"), ("05", "ISO"),
            ("7F 01 02", "type 0x7F 01 02"), ("", "empty packet"),
        ])
    func others(_ packet: String, _ text: String) {
        #expect(trace(packet) == text)
    }

    @Test("keys in commands are shown only on request, most significant octet first")
    func keys() {
        let packet = "01 1A 20 12 40 00 00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F"
        #expect(trace(packet) == "CMD LE Long Term Key Request Reply handle 0x0040 long term key (hidden)")
        #expect(
            trace(packet, showsKeys: true)
                == "CMD LE Long Term Key Request Reply handle 0x0040 long term key 0F0E0D0C0B0A09080706050403020100")
        // Nor are they in a command that is malformed.
        let malformed = "01 1A 20 13 40 00 00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F 10"
        #expect(!trace(malformed).contains("0D 0E"))
        #expect(trace(malformed, showsKeys: true).contains("0D 0E"))
    }

    @Test("the owner of a link's encryption key is shown without the key")
    func keyOwners() {
        let key: UInt128 = 0x0F0E_0D0C_0B0A_0908_0706_0504_0302_0100
        let reply = "01 1A 20 12 40 00 00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F"
        let start = "01 19 20 1C 40 00 00 00 00 00 00 00 00 00 00 00 00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F"
        for packet in [reply, start] {
            let rows: [([UInt128: String]?, String)] = [
                ([key: "Ada's"], "(hidden), Ada's"), ([:], "(hidden), no known key"), (nil, "(hidden)"),
            ]
            for (owners, end) in rows {
                var tracer = PacketTracer(keyOwners: owners)
                let description = tracer.describe(bytes(packet).span, direction: .hostToController)
                #expect(description.text.hasSuffix(end))
                #expect(description.command?.keyOwner == owners?[key])
            }
        }
    }

    @Test(
        "BR/EDR keys, whose packets are not decoded, are shown only on request",
        arguments: [
            // Link Key Request Reply, Write Stored Link Key, Link Key Notification, Read Local OOB Data answered.
            ("01 0B 04 03 01 02 AA", "CMD Command 0x040B"), ("01 11 0C 02 01 AA", "CMD Command 0x0C11"),
            ("04 18 03 01 02 AA", "EVT Event 0x18"),
            ("04 0E 05 01 57 0C 00 AA", "EVT Command Complete Command 0x0C57"),
        ])
    func foreignKeys(_ packet: String, _ name: String) {
        #expect(trace(packet) == name + " (hidden)")
        #expect(trace(packet, showsKeys: true).hasSuffix(" AA"))
    }

    @Test(
        "times are in seconds, to the microsecond, and the mark shows the direction",
        arguments: [
            (12_345_678, .hostToController, "0.012345 > CMD Reset"),
            (0, .controllerToHost, "0.000000 < CMD Reset"),
            (3_600_000_001_999, .controllerToHost, "3600.000001 < CMD Reset"),
            (.max, .hostToController, "18446744073.709551 > CMD Reset"),
        ] as [(UInt64, PacketTracer.Direction, String)])
    func timeAndDirection(_ nanoseconds: UInt64, _ direction: PacketTracer.Direction, _ line: String) {
        var tracer = PacketTracer()
        let packet = bytes("01 03 0C 00")
        #expect(tracer.line(for: packet.span, direction: direction, at: Instant(nanoseconds: nanoseconds)) == line)
    }
}
