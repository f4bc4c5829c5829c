import BluetoothBase
import BluetoothHCI
import TestSupport
import Testing

@Suite("Commands and return parameters, byte for byte")
struct CommandCodecTests {
    @Test("the samples cover every command in the catalog, once each")
    func coverage() {
        #expect(CommandSamples.all.map(\.opcode.rawValue).sorted() == HCICommandCatalog.opcodes.map(\.rawValue))
    }

    @Test("each command encodes to its packet and decodes to an equal value", arguments: CommandSamples.all)
    func roundTrip(_ sample: CommandSample) throws {
        #expect(written { sample.command.encodePacket(into: &$0) } == sample.packet)
        let packet = try HCICommandPacket(decoding: sample.packet.span.extracting(droppingFirst: 1))
        let decoded = try #require(try packet.decodeKnown())
        let equal = isEqual(sample.command, decoded)
        #expect(equal)
        #expect(written { packet.encodePacket(into: &$0) } == sample.packet)
    }

    @Test("the return parameters of each command are encoded and decoded", arguments: CommandSamples.all)
    func returnParameters(_ sample: CommandSample) throws {
        let event = completion(of: sample.command, returning: sample.returnParameters)
        let header: [UInt8] = [
            0x04, 0x0E, UInt8(4 + sample.returned.count), 1, UInt8(sample.opcode.rawValue & 0xFF),
            UInt8(sample.opcode.rawValue >> 8), 0,
        ]
        #expect(event == header + sample.returned)
        guard case .commandComplete(let complete) = try HCIEvent(decoding: event.span.extracting(droppingFirst: 1))
        else {
            Issue.record("not a Command Complete event")
            return
        }
        #expect(complete.opcode == sample.opcode)
        #expect(complete.status == .success)
        let decoded = try #require(try complete.decodeKnownReturnParameters())
        let equal = isEqual(sample.returnParameters, decoded)
        #expect(equal)
    }

    @Test("H1: every truncation of a command throws", arguments: CommandSamples.all)
    func truncatedCommand(_ sample: CommandSample) {
        let parameters = Array(sample.packet.dropFirst(4))
        for length in 0..<parameters.count {
            let packet = Array(sample.packet[1...2]) + [UInt8(length)] + parameters.prefix(length)
            #expect(throws: DecodingFailure.self) {
                _ = try HCICommandPacket(decoding: packet.span).decodeKnown()
            }
        }
        for length in 1..<sample.packet.count {
            #expect(throws: DecodingFailure.self) {
                _ = try HCICommandPacket(decoding: sample.packet[1..<length].span).decodeKnown()
            }
        }
    }

    @Test("a command with an extra byte throws", arguments: CommandSamples.all)
    func overlongCommand(_ sample: CommandSample) throws {
        var packet = Array(sample.packet.dropFirst()) + [0]
        packet[2] += 1
        #expect(throws: DecodingFailure.self) {
            _ = try HCICommandPacket(decoding: packet.span).decodeKnown()
        }
    }

    @Test("H7: every truncation of return parameters throws", arguments: CommandSamples.all)
    func truncatedReturnParameters(_ sample: CommandSample) {
        let returned = [0] + sample.returned
        for length in 0..<returned.count {
            let short = Array(returned.prefix(length))
            let complete = CommandComplete(opcode: sample.opcode, returnParameters: short.span)
            do throws(DecodingFailure) {
                _ = try complete.decodeKnownReturnParameters()
                Issue.record("\(length) of \(returned.count) bytes decoded")
            } catch {}
        }
    }

    @Test("an unknown opcode is kept raw and encodes to the same bytes")
    func unknownCommand() throws {
        let raw = bytes("01 05 FC 03 AA BB CC")
        let packet = try HCICommandPacket(decoding: raw.span.extracting(droppingFirst: 1))
        #expect(packet.opcode.group == .vendorSpecific)
        #expect(packet.opcode.description == "Command 0xFC05")
        let known = try packet.decodeKnown() != nil
        #expect(!known)
        #expect(written { packet.encodePacket(into: &$0) } == raw)
    }

    @Test("a packet is not decoded as another command")
    func wrongCommand() throws {
        #expect(throws: DecodingFailure(.unknownCode(0x0C03), at: 0)) {
            _ = try HCICommandPacket(decoding: bytes("03 0C 00").span).decode(as: LERand.self)
        }
    }

    private func isEqual<Value: Equatable>(_ first: Value, _ second: any Equatable) -> Bool {
        second as? Value == first
    }

    private func completion<Command: HCICommand>(
        of command: Command, returning returnParameters: any HCIReturnParameters
    ) -> [UInt8] {
        written {
            Command.encodeCompletion(returning: returnParameters as? Command.ReturnParameters, into: &$0)
        }
    }
}
