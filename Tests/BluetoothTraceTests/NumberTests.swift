import BluetoothATT
import BluetoothBase
import BluetoothHCI
import BluetoothL2CAP
import TestSupport
import Testing

@testable import BluetoothTrace

@Suite("Trace: the numbers of a packet description")
struct NumberTests {
    private func describe(_ packet: String) -> PacketDescription {
        var tracer = PacketTracer()
        return tracer.describe(bytes(packet).span, direction: .controllerToHost)
    }

    @Test(
        "numbers of commands",
        arguments: [
            ("01 03 0C 00", 0x0C03, 0, []), ("01 06 04 03 40 00 13", 0x0406, 3, [0x0040]),
            ("01 01 FC 02 AA BB", 0xFC01, 2, []),
        ] as [(String, UInt16, Int, [ConnectionHandle])])
    func commands(_ packet: String, _ opcode: UInt16, _ length: Int, _ handles: [ConnectionHandle]) {
        let description = describe(packet)
        #expect(description.packetType == 1)
        #expect(
            description.command
                == PacketDescription.Command(
                    opcode: HCIOpcode(rawValue: opcode), parameterLength: length, connectionHandles: handles))
    }

    @Test(
        "numbers of events",
        arguments: [
            ("04 05 04 00 40 00 08", 0x05, nil, nil, [0x0040]), ("04 10 01 42", 0x10, nil, nil, []),
            ("04 13 09 02 40 00 02 00 41 00 01 00", 0x13, nil, nil, [0x0040, 0x0041]),
            ("04 0E 04 01 03 0C 00", 0x0E, nil, 0x0C03, []),
            // Return parameters may contain a connection handle: LE Set Data Length.
            ("04 0E 06 01 22 20 00 40 00", 0x0E, nil, 0x2022, [0x0040]), ("04 0E 03 01 00 00", 0x0E, nil, 0, []),
            ("04 0F 04 00 01 06 04", 0x0F, nil, 0x0406, []),
            ("04 3E 13 01 00 40 00 00 01 55 44 33 22 11 C0 18 00 04 00 F4 01 05", 0x3E, 0x01, nil, [0x0040]),
            ("04 3E 02 F0 AA", 0x3E, 0xF0, nil, []), ("04 FF 01 AA", 0xFF, nil, nil, []),
        ] as [(String, UInt8, UInt8?, UInt16?, [ConnectionHandle])])
    func events(
        _ packet: String, _ code: UInt8, _ subeventCode: UInt8?, _ opcode: UInt16?, _ handles: [ConnectionHandle]
    ) {
        let description = describe(packet)
        #expect(description.malformation == nil)
        #expect(
            description.event
                == PacketDescription.Event(
                    code: HCIEventCode(rawValue: code), parameterLength: bytes(packet).count - 3,
                    subeventCode: subeventCode.map(LESubeventCode.init(rawValue:)),
                    commandOpcode: opcode.map(HCIOpcode.init(rawValue:)), connectionHandles: handles))
    }

    @Test("numbers of ACL data and its contents")
    func signalling() {
        let description = describe("02 40 20 0C 00 08 00 05 00 13 07 04 00 40 00 51 00")
        #expect(
            description.aclData
                == PacketDescription.ACLData(
                    connectionHandle: 0x0040, boundary: .firstFlushable, broadcast: 0, dataLength: 12))
        #expect(description.frame == PacketDescription.Frame(length: 8, channel: 0x0005, isComplete: true))
        #expect(description.signalling == PacketDescription.Signalling(code: 0x13, identifier: 7, length: 4))
        #expect(description.attribute == nil && description.securityManager == nil)
        #expect(describe("02 40 20 06 00 02 00 06 00 05 08").securityManager?.code == 5)
    }

    @Test("the first fragment of a frame has its header, and the last one its PDU")
    func fragments() {
        var tracer = PacketTracer()
        let packets = ["02 40 20 05 00 05 00 04 00 1B", "02 40 10 02 00 03 00", "02 40 10 02 00 AA BB"].map { packet in
            tracer.describe(bytes(packet).span, direction: .controllerToHost)
        }
        #expect(
            packets.map(\.frame) == [
                PacketDescription.Frame(length: 5, channel: 0x0004, isComplete: false), nil,
                PacketDescription.Frame(length: 5, channel: 0x0004, isComplete: true),
            ])
        #expect(packets.map(\.attribute?.opcode) == [nil, nil, 0x1B])
    }

    /// The PDU, and what it is expected to name.
    static let attributes: [(String, PacketDescription.Attribute)] = [
        ("02 B9 00", .init(opcode: 0x02, rxMTU: 185)),
        ("04 01 00 FF FF", .init(opcode: 0x04, startingHandle: 0x0001, endingHandle: 0xFFFF)),
        ("05 01 03 00 00 28 04 00 03 28", .init(opcode: 0x05, handles: [0x0003, 0x0004])),
        (
            "06 01 00 FF FF 00 28 0F 18",
            .init(opcode: 0x06, startingHandle: 0x0001, endingHandle: 0xFFFF, valueLengths: [2])
        ),
        ("07 01 00 05 00", .init(opcode: 0x07, handles: [0x0001], groupEndHandles: [0x0005])),
        (
            "09 03 01 00 AA 02 00 BB",
            .init(opcode: 0x09, handles: [0x0001, 0x0002], elementLength: 3, valueLengths: [1, 1])
        ),
        ("0B", .init(opcode: 0x0B, valueLengths: [0])),
        ("0C 03 00 16 00", .init(opcode: 0x0C, handles: [3], offset: 22)),
        ("0E 01 00 02 00", .init(opcode: 0x0E, handles: [1, 2])),
        (
            "11 06 01 00 05 00 00 18",
            .init(opcode: 0x11, handles: [1], groupEndHandles: [5], elementLength: 6, valueLengths: [2])
        ),
        ("13", .init(opcode: 0x13)),
        ("16 03 00 05 00 AA BB", .init(opcode: 0x16, handles: [3], offset: 5, valueLengths: [2])),
        // The second value is truncated.
        ("21 01 00 AA 05 00 BB CC", .init(opcode: 0x21, valueLengths: [1, 2])),
        ("23 01 00 01 00 AA 02 00 00 00", .init(opcode: 0x23, handles: [1, 2], valueLengths: [1, 0])),
        (
            "D2 03 00 AA 01 00 00 00 11 12 13 14 15 16 17 18",
            .init(opcode: 0xD2, handles: [3], valueLengths: [1])
        ),
        ("F0 01 02", .init(opcode: 0xF0)),
    ]

    @Test("numbers of ATT PDUs", arguments: attributes)
    func attribute(_ pdu: String, _ expected: PacketDescription.Attribute) {
        let length = bytes(pdu).count
        let (acl, l2cap) = (hexadecimal(length + 4), hexadecimal(length))
        #expect(describe("02 40 20 \(acl) 00 \(l2cap) 00 04 00 \(pdu)").attribute == expected)
    }

    @Test("numbers of an ATT error")
    func error() {
        let error = describe("02 40 20 09 00 05 00 04 00 01 0A 03 00 02").attribute?.error
        #expect(error == ATTError(requestOpcode: 0x0A, handle: 0x0003, code: ATTErrorCode(rawValue: 2)))
    }

    @Test(
        "a malformed packet has no numbers beyond what could be decoded",
        arguments: [
            ("01 0C 20 03 01", false), ("04 05 04 00", false), ("02 40 00 05 00 0B", false),
            ("02 40 20 05 00 01 00 04 00 0A", true), ("04 13 05 02 40 00 02 00", true),
            ("04 0E 05 01 09 10 00 55", true), ("01 0C 20 01 01", true),
        ])
    func malformed(_ packet: String, _ hasHeader: Bool) {
        let description = describe(packet)
        #expect(description.malformation != nil)
        #expect(description.text.contains("malformed"))
        #expect((description.command != nil || description.event != nil || description.aclData != nil) == hasHeader)
        #expect(description.attribute == nil)
    }
}
