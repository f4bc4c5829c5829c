import BluetoothBase
import BluetoothHCI
import TestSupport
import Testing

@Suite("Fixtures: events")
struct EventFixtureTests {
    @Test("every event is decoded to its own type, and encoded to the same bytes", arguments: Capture.all)
    func events(_ capture: Capture) throws {
        for packet in capture.packets {
            guard let content = packet.content(of: .event) else { continue }
            let event = try HCIEvent(decoding: content.span)
            #expect(encoded(event) == packet.bytes)
            switch event {
            case .unknown, .unknownLE: Issue.record("no type for \(packet.bytes.hexadecimal())")
            default: break
            }
        }
    }

    @Test("return parameters are decoded, and encoded to the same bytes", arguments: Capture.all)
    func returnParameters(_ capture: Capture) throws {
        for packet in capture.packets {
            guard let content = packet.content(of: .event),
                case .commandComplete(let complete) = try HCIEvent(decoding: content.span)
            else { continue }
            let opcode = complete.opcode
            let recorded = Array(complete.returnParameters)
            let known = complete.status
            let status = try #require(known)
            guard status.isSuccess else {
                // A refusal carries nothing else. It is a command the controller does not know.
                #expect(recorded.count == 1)
                #expect(status == .unknownCommand, "\(opcode): \(status)")
                continue
            }
            guard let returned = try complete.decodeKnownReturnParameters() else {
                #expect(CommandFixtureTests.exceptions.contains(opcode), "no type for \(opcode)")
                continue
            }
            #expect([status.rawValue] + written { returned.encode(into: &$0) } == recorded, "\(opcode): \(returned)")
        }
    }

    @Test("every advertising report is decoded, and encoded to the same bytes", arguments: Capture.all)
    func reports(_ capture: Capture) throws {
        for packet in capture.packets {
            guard let content = packet.content(of: .event) else { continue }
            var again: [[UInt8]] = []
            switch try HCIEvent(decoding: content.span) {
            case .leAdvertisingReports(var reports):
                while let report = reports.next() { again.append(encoded(report)) }
                let isMalformed = reports.isMalformed
                #expect(!isMalformed)
            case .leExtendedAdvertisingReports(var reports):
                while let report = reports.next() { again.append(encoded(report)) }
                let isMalformed = reports.isMalformed
                #expect(!isMalformed)
            default: continue
            }
            // The recorded controllers put one report into an event.
            #expect(again == [packet.bytes])
        }
    }

    @Test("the captures contain every kind of event that matters to two connected devices")
    func variety() throws {
        var codes: Set<UInt8> = [], subevents: Set<UInt8> = []
        for packet in Capture.all.flatMap(\.packets) {
            guard let content = packet.content(of: .event) else { continue }
            codes.insert(content[0])
            if content[0] == HCIEventCode.leMeta.rawValue { subevents.insert(content[2]) }
        }
        #expect(codes == [0x05, 0x08, 0x0E, 0x0F, 0x13, 0x3E])
        #expect(subevents == [0x01, 0x02, 0x03, 0x04, 0x05, 0x07, 0x0A, 0x0D, 0x12])
    }
}
