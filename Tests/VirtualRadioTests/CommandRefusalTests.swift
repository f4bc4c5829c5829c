import BluetoothBase
import BluetoothHCI
import TestSupport
import Testing
import VirtualRadio

@Suite("Rejected commands")
struct CommandRefusalTests {
    @Test(
        "Every command of the catalog is answered according to the supported commands",
        arguments: HCICommandCatalog.opcodes)
    func supportedCommands(opcode: HCIOpcode) throws {
        var bench = Bench(central: { $0.aesEncrypt = { key, plaintext in key ^ plaintext } })
        bench.send(ReadLocalSupportedCommands(), from: bench.central)
        let answer = bench.air[bench.central].outbox.popFirst() ?? []
        var reader = ByteReader(answer.span.extracting(droppingFirst: 7))
        let supported = try ReadLocalSupportedCommands.ReturnParameters(decoding: &reader).supportedCommands

        // Without its parameters: known commands complain about those, unknown ones about the command.
        let code = [UInt8(truncatingIfNeeded: opcode.rawValue), UInt8(opcode.rawValue >> 8)]
        bench.send([0x01] + code + [0], from: bench.central)
        let reply = bench.air[bench.central].outbox.popFirst()
        #expect(reply != nil)
        #expect((reply == [0x04, 0x0F, 0x04, 0x01, 0x01] + code) == !supported.contains(opcode))
        #expect(bench.air[bench.central].outbox.isEmpty)
    }

    @Test(
        "Unknown commands get Unknown HCI Command",
        arguments: [
            "01 36 20 00", "01 39 20 00", "01 42 20 00", "01 43 20 00", "01 60 20 00", "01 6D 0C 02 01 00",
            "01 01 FC 02 AA BB", "01 FF FF 00",
        ])
    func unknown(command: String) {
        var bench = Bench()
        let opcode = command.split(separator: " ")[1...2].joined(separator: " ")
        #expect(bench.answer(to: command, from: bench.central) == "04 0F 04 01 01 \(opcode)")
    }

    @Test("LE Encrypt is unknown to a controller without a cipher")
    func withoutCipher() {
        var bench = Bench(central: { $0.aesEncrypt = nil })
        #expect(bench.answer(to: "01 17 20 00", from: bench.central) == "04 0F 04 01 01 17 20")
    }

    @Test("A command disabled by configuration is unknown")
    func unsupported() {
        var bench = Bench(central: { $0.unsupportedCommands = [.leReadPHY] })
        #expect(bench.answer(to: "01 30 20 02 40 00", from: bench.central) == "04 0F 04 01 01 30 20")
    }

    @Test("A controller that cannot scan while connecting rejects either during the other")
    func oneAtATime() {
        let scan = "01 0C 20 02 01 00", stop = "01 0C 20 02 00 00"
        let connect = "01 0D 20 19 10 00 10 00 00 00 A0 00 00 00 00 00 00 06 00 06 00 00 00 64 00 00 00 00 00"
        var bench = Bench(central: { $0.scansWhileConnecting = false })
        #expect(bench.answer(to: scan, from: bench.central) == "04 0E 04 01 0C 20 00")
        #expect(bench.answer(to: connect, from: bench.central) == "04 0F 04 0C 01 0D 20")
        #expect(bench.answer(to: stop, from: bench.central) == "04 0E 04 01 0C 20 00")
        #expect(bench.answer(to: connect, from: bench.central) == "04 0F 04 00 01 0D 20")
        #expect(bench.answer(to: scan, from: bench.central) == "04 0E 04 01 0C 20 0C")
    }

    @Test(
        "Invalid parameters get Invalid HCI Command Parameters",
        arguments: [
            ("01 05 20 05 01 02 03 04 05", "04 0E 04 01 05 20 12"),  // LE Set Random Address, short
            ("01 05 20 07 01 02 03 04 05 06 07", "04 0E 04 01 05 20 12"),  // and long
            ("01 06 20 0F 1F 00 A0 00 00 00 00 00 00 00 00 00 00 07 00", "04 0E 04 01 06 20 12"),  // interval
            ("01 06 20 0F A1 00 A0 00 00 00 00 00 00 00 00 00 00 07 00", "04 0E 04 01 06 20 12"),  // min > max
            ("01 06 20 0F A0 00 A0 00 05 00 00 00 00 00 00 00 00 07 00", "04 0E 04 01 06 20 12"),  // type
            ("01 06 20 0F A0 00 A0 00 00 00 00 00 00 00 00 00 00 00 00", "04 0E 04 01 06 20 12"),  // no channel
            ("01 0B 20 07 00 10 00 11 00 00 00", "04 0E 04 01 0B 20 12"),  // window > interval
            ("01 0B 20 07 00 03 00 03 00 00 00", "04 0E 04 01 0B 20 12"),  // interval < 2.5 ms
            ("01 0B 20 07 00 10 00 10 00 01 00", "04 0E 04 01 0B 20 00"),  // random address: not checked before
            ("01 0A 20 01 02", "04 0E 04 01 0A 20 12"),  // neither on nor off
            // LE Create Connection: interval below 7.5 ms; timeout not longer than two intervals; cut short
            (
                "01 0D 20 19 10 00 10 00 00 00 A0 00 00 00 00 00 00 05 00 05 00 00 00 64 00 00 00 00 00",
                "04 0F 04 12 01 0D 20"
            ),
            (
                "01 0D 20 19 10 00 10 00 00 00 A0 00 00 00 00 00 00 50 00 50 00 00 00 14 00 00 00 00 00",
                "04 0F 04 12 01 0D 20"
            ),
            ("01 0D 20 02 10 00", "04 0F 04 12 01 0D 20"),
            ("01 24 20 04 1A 00 48 01", "04 0E 04 01 24 20 12"),  // 26 octets
            ("01 2E 20 02 00 00", "04 0E 04 01 2E 20 12"),  // private addresses never renewed
            ("01 14 20 05 01 00 00 00 00", "04 0E 04 01 14 20 12"),  // a single channel
        ])
    func invalid(command: String, expected: String) {
        var bench = Bench()
        #expect(bench.answer(to: command, from: bench.central) == expected)
    }

    @Test("A random address that was never set cannot be used")
    func missingRandomAddress() {
        var bench = Bench()
        bench.prepare(
            bench.central, LESetScanParameters(type: .passive, ownAddressType: .random),
            LESetAdvertisingParameters(ownAddressType: .random))
        #expect(bench.answer(to: "01 0C 20 02 01 00", from: bench.central) == "04 0E 04 01 0C 20 12")
        #expect(bench.answer(to: "01 0A 20 01 01", from: bench.central) == "04 0E 04 01 0A 20 12")
    }

    @Test(
        "Some commands are disallowed while advertising, scanning or initiating",
        arguments: [
            ("01 05 20 06 01 02 03 04 05 C6", "04 0E 04 01 05 20 0C"),
            ("01 06 20 0F A0 00 A0 00 00 00 00 00 00 00 00 00 00 07 00", "04 0E 04 01 06 20 0C"),
            ("01 0B 20 07 00 10 00 10 00 00 00", "04 0E 04 01 0B 20 0C"),
            (
                "01 0D 20 19 10 00 10 00 00 00 A0 00 00 00 00 00 00 18 00 18 00 00 00 64 00 00 00 00 00",
                "04 0F 04 0C 01 0D 20"
            ),
            ("01 10 20 00", "04 0E 04 01 10 20 0C"),
            ("01 11 20 07 00 01 00 00 00 00 00", "04 0E 04 01 11 20 0C"),
            ("01 12 20 07 00 01 00 00 00 00 00", "04 0E 04 01 12 20 0C"),
            ("01 2D 20 01 00", "04 0E 04 01 2D 20 0C"),
        ])
    func disallowed(command: String, expected: String) {
        var bench = Bench()
        bench.prepare(
            bench.central, LESetAdvertisingParameters(filterPolicy: .acceptListOnly),
            LESetAdvertisingEnable(isEnabled: true), LESetScanEnable(isEnabled: true), Bench.createConnection())
        #expect(bench.answer(to: command, from: bench.central) == expected)
    }

    @Test(
        "Commands for an unknown link get Unknown Connection Identifier",
        arguments: [
            ("01 06 04 03 41 00 13", "04 0F 04 02 01 06 04"), ("01 1D 04 02 41 00", "04 0F 04 02 01 1D 04"),
            ("01 05 14 02 41 00", "04 0E 04 01 05 14 02"), ("01 2D 0C 03 41 00 00", "04 0E 04 01 2D 0C 02"),
            ("01 16 20 02 00 00", "04 0F 04 02 01 16 20"), ("01 30 20 02 3F 00", "04 0E 04 01 30 20 02"),
            ("01 15 20 02 FF 0E", "04 0E 04 01 15 20 02"),
            ("01 22 20 06 41 00 FB 00 48 08", "04 0E 06 01 22 20 02 41 00"),
            ("01 1B 20 02 41 00", "04 0E 06 01 1B 20 02 41 00"),
        ])
    func unknownConnection(command: String, expected: String) {
        var bench = Bench()
        bench.connect()
        #expect(bench.answer(to: command, from: bench.central) == expected)
    }

    @Test(
        "H1: invalid packets are not answered",
        arguments: ["", "01", "01 03 0C", "01 03 0C 01", "01 03 0C 00 00", "04 0E 00", "FF 03 0C 00", "02 40", "05 00"])
    func garbage(packet: String) {
        var bench = Bench()
        bench.connect()
        #expect(bench.answer(to: packet, from: bench.central) == "")
        #expect(bench.answer(to: "01 03 0C 00", from: bench.central) == "04 0E 04 01 03 0C 00")
    }

    @Test("LE Encrypt uses the configured cipher, and LE Rand the seed")
    func blockAndBits() {
        var bench = Bench(central: { $0.aesEncrypt = { key, plaintext in key ^ plaintext } })
        let command = "01 17 20 20" + String(repeating: " 0F", count: 16) + String(repeating: " F0", count: 16)
        #expect(
            bench.answer(to: command, from: bench.central)
                == "04 0E 14 01 17 20 00" + String(repeating: " FF", count: 16))
        let first = bench.answer(to: "01 18 20 00", from: bench.central)
        let second = bench.answer(to: "01 18 20 00", from: bench.central)
        #expect(first.hasPrefix("04 0E 0C 01 18 20 00 ") && first != second)
    }
}
