import BluetoothBase
import BluetoothHCI
import Testing

@testable import ble

/// `ble decode --json`: records as objects.
struct DecodeJSONTests {
    private func lines(_ records: [(BTSnoop.Record, [UInt8])], _ datalink: BTSnoop.Datalink) -> [String] {
        var decoder = CaptureDecoder(showsKeys: false, format: .json)
        for (record, packet) in records { decoder.append(record, packet.span, datalink) }
        return String(decoding: decoder.takeText(), as: UTF8.self).split(separator: "\n").map(String.init)
    }

    private func record(
        _ direction: BTSnoop.Direction, _ type: HCIPacketType, at microseconds: Int64, length: Int
    ) -> BTSnoop.Record {
        BTSnoop.Record(
            direction: direction, type: type, originalLength: length, microsecondsSince1970: microseconds)
    }

    @Test("a command, a fragment, and the PDU that it starts")
    func packets() {
        let records: [(BTSnoop.Record, [UInt8])] = [
            (record(.sent, .command, at: 5, length: 4), [0x01, 0x03, 0x0C, 0x00]),
            (
                record(.received, .aclData, at: 7, length: 10),
                [0x02, 0x40, 0x20, 0x05, 0x00, 0x05, 0x00, 0x04, 0x00, 0x1B]
            ),
            (record(.received, .aclData, at: 8, length: 9), [0x02, 0x40, 0x10, 0x04, 0x00, 0x03, 0x00, 0xAA, 0xBB]),
        ]
        #expect(
            lines(records, .h4) == [
                #"{"number":1,"microseconds":0,"microsecondsSince1970":5,"direction":"sent","length":4,"type":1,"#
                    + #""command":{"opcode":3075,"parameterLength":0},"text":"CMD Reset"}"#,
                #"{"number":2,"microseconds":2,"microsecondsSince1970":7,"direction":"received","length":10,"#
                    + #""type":2,"acl":{"connectionHandle":64,"boundary":2,"broadcast":0,"dataLength":5},"#
                    + #""l2cap":{"length":5,"channel":4},"text":"ACL 0x0040 start, 5 of 9 bytes"}"#,
                #"{"number":3,"microseconds":3,"microsecondsSince1970":8,"direction":"received","length":9,"#
                    + #""type":2,"acl":{"connectionHandle":64,"boundary":1,"broadcast":0,"dataLength":4},"#
                    + #""l2cap":{"length":5,"channel":4,"isComplete":true},"#
                    + #""att":{"opcode":27,"handles":[3],"valueLengths":[2]},"#
                    + #""text":"ACL 0x0040 ATT_HANDLE_VALUE_NTF handle 0x0003 value AA BB"}"#,
            ])
    }

    @Test("an event, and a truncated packet in a capture of the monitor")
    func monitor() {
        var event = record(.received, .event, at: 0, length: 6)
        (event.adapter, event.monitorOpcode, event.cumulativeDrops) = (3, .event, 2)
        var acl = record(.received, .aclData, at: 0, length: 20)
        (acl.adapter, acl.monitorOpcode) = (3, .aclReceived)
        let records: [(BTSnoop.Record, [UInt8])] = [
            (event, [0x04, 0x05, 0x04, 0x00, 0x40, 0x00, 0x13]), (acl, [0x02, 0x40, 0x20, 0x09, 0x00]),
        ]
        #expect(
            lines(records, .monitor) == [
                #"{"number":1,"microseconds":0,"microsecondsSince1970":0,"direction":"received","adapter":3,"#
                    + #""monitorOpcode":3,"cumulativeDrops":2,"length":7,"type":4,"#
                    + #""event":{"code":5,"parameterLength":4,"connectionHandles":[64]},"#
                    + #""text":"EVT Disconnection Complete status Success handle 0x0040 "#
                    + #"reason Remote User Terminated Connection"}"#,
                #"{"number":2,"microseconds":0,"microsecondsSince1970":0,"direction":"received","adapter":3,"#
                    + #""monitorOpcode":5,"isCutOff":true,"length":5,"type":2,"malformed":"invalid length at byte 2","#
                    + #""text":"ACL malformed, invalid length at byte 2: 40 20 09 00"}"#,
            ])
    }

    @Test("a note has no direction, and its text is quoted")
    func note() {
        let note = BTSnoop.Record(
            direction: .received, type: nil, originalLength: 3, microsecondsSince1970: 0, monitorOpcode: .systemNote)
        #expect(
            lines([(note, [0x22, 0x5C, 0xFF])], .monitor) == [
                #"{"number":1,"microseconds":0,"microsecondsSince1970":0,"monitorOpcode":12,"length":3,"#
                    + #""text":"System Note \"\\\#u{FFFD}"}"#
            ])
    }

    @Test("an object escapes what JSON requires and what could control a terminal, and omits missing values")
    func object() {
        var object = JSONObject()
        object.add("a\"b", "\u{0}\u{1F}\n\u{7F}\u{202E}\u{E0001}é\\")
        object.add("n", UInt8?.none)
        object.add("l", [Int]())
        object.add("f", false)
        object.add("o", Int?.none) { object, value in object.add("v", value) }
        object.add("x", Optional(1)) { object, value in object.add("v", [value, 2]) }
        #expect(object.text == #"{"a\"b":"\u0000\u001f\u000a\u007f\u202e\udb40\udc01é\\","x":{"v":[1,2]}}"#)
    }
}
