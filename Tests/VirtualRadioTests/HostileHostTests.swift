import BluetoothBase
import BluetoothHCI
import TestSupport
import Testing
import VirtualRadio

@Suite("Hostile hosts")
struct HostileHostTests {
    @Test(
        "Whatever two hosts send, every command is answered once, every event decodes, and the air becomes idle",
        arguments: [1, 2, 3] as [UInt64])
    func randomCommands(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var bench = Bench(seed: seed)
        bench.connect()
        for opcode in (HCICommandCatalog.opcodes + HCICommandCatalog.opcodes).shuffled(using: &generator) {
            // Reset would end the connection, and with it most of what is tested here.
            guard opcode != .reset else { continue }
            for length in 0...40 {
                let id = Bool.random(using: &generator) ? bench.central : bench.peripheral
                var parameters = (0..<length).map { _ in
                    // Small numbers, so that many are valid.
                    UInt8.random(in: 0...255, using: &generator) >> UInt8.random(in: 0...7, using: &generator)
                }
                if length >= 2, Bool.random(using: &generator) {
                    parameters.replaceSubrange(0..<2, with: [0x40, 0x00])
                }
                let code = [UInt8(truncatingIfNeeded: opcode.rawValue), UInt8(opcode.rawValue >> 8)]
                _ = bench.received(by: id)
                bench.send([0x01] + code + [UInt8(length)] + parameters, from: id)
                let answers = try Self.answers(from: &bench, id, to: opcode)
                // Host credits are answered only to refuse them.
                #expect(answers == 1 || answers == 0 && opcode == .hostNumberOfCompletedPackets)
                bench.send([0x02, 0x40, UInt8(length & 0x11), UInt8(length), 0] + parameters, from: id)
                bench.run(.milliseconds(Int64.random(in: 0...40, using: &generator)))
            }
        }
        for id in [bench.central, bench.peripheral] {
            bench.prepare(id, Reset())
        }
        bench.run(.seconds(100))
        #expect(bench.air.nextDeadline == nil)
        bench.connect()
        #expect(bench.air[bench.central].connectionCount == 1)
    }

    /// How many answers to a command are among what reached the host. Throws if an event cannot be decoded.
    static func answers(from bench: inout Bench, _ id: ControllerID, to opcode: HCIOpcode) throws -> Int {
        var count = 0
        while let packet = bench.air[id].outbox.popFirst() {
            guard packet.first == HCIPacketType.event.rawValue else { continue }
            switch try HCIEvent(decoding: packet.span.extracting(droppingFirst: 1)) {
            case .commandComplete(let event): count += event.opcode == opcode ? 1 : 0
            case .commandStatus(let event): count += event.opcode == opcode ? 1 : 0
            case .unknown, .unknownLE: Issue.record("an unknown event: \(packet.hexadecimal())")
            default: break
            }
        }
        return count
    }
}
