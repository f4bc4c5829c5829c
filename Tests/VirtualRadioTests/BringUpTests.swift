import BluetoothBase
import BluetoothHCI
import Testing
import VirtualRadio

@Suite("Bring-up")
struct BringUpTests {
    @Test(
        "What a controller reports about itself, byte for byte",
        arguments: [
            ("01 03 0C 00", "04 0E 04 01 03 0C 00"),
            ("01 01 10 00", "04 0E 0C 01 01 10 00 0D 34 12 0D FF FF 34 12"),
            ("01 03 10 00", "04 0E 0C 01 03 10 00 00 00 00 00 60 00 00 00"),
            ("01 05 10 00", "04 0E 0B 01 05 10 00 FB 00 00 08 00 00 00"),
            ("01 09 10 00", "04 0E 0A 01 09 10 00 C0 00 00 00 00 00"),
            ("01 02 20 00", "04 0E 07 01 02 20 00 FB 00 08"),
            ("01 03 20 00", "04 0E 0C 01 03 20 00 6F 01 00 00 00 00 00 00"),
            ("01 07 20 00", "04 0E 05 01 07 20 00 00"),
            ("01 0F 20 00", "04 0E 05 01 0F 20 00 10"),
            ("01 1C 20 00", "04 0E 0C 01 1C 20 00 FF FF FF FF FF 03 00 00"),
            ("01 2A 20 00", "04 0E 05 01 2A 20 00 08"),
            ("01 2F 20 00", "04 0E 0C 01 2F 20 00 FB 00 48 08 FB 00 48 08"),
            ("01 23 20 00", "04 0E 08 01 23 20 00 1B 00 48 01"),
            ("01 01 0C 08 FF FF FF FF FF FF FF 3F", "04 0E 04 01 01 0C 00"),
            ("01 01 20 08 1F 00 00 00 00 00 00 00", "04 0E 04 01 01 20 00"),
            ("01 05 20 06 01 02 03 04 05 C6", "04 0E 04 01 05 20 00"),
        ])
    func answers(command: String, expected: String) {
        var bench = Bench(central: { $0.subversion = 0x1234 })
        #expect(bench.answer(to: command, from: bench.central) == expected)
    }

    @Test("H6: a controller without its own LE buffers says so, and reports the shared ones")
    func sharedBuffers() {
        var bench = Bench(central: {
            $0.sharesBuffersWithBREDR = true
            $0.aclDataLength = 27
            $0.aclBufferCount = 3
        })
        #expect(bench.answer(to: "01 02 20 00", from: bench.central) == "04 0E 07 01 02 20 00 00 00 00")
        #expect(bench.answer(to: "01 05 10 00", from: bench.central) == "04 0E 0B 01 05 10 00 1B 00 00 03 00 00 00")
    }

    @Test("Answers grant the configured number of credits")
    func credits() {
        var bench = Bench(central: { $0.commandCredits = 3 })
        #expect(bench.answer(to: "01 03 0C 00", from: bench.central) == "04 0E 04 03 03 0C 00")
        #expect(bench.answer(to: "01 06 04 03 40 00 13", from: bench.central) == "04 0F 04 02 03 06 04")
    }

    @Test("A slow controller answers commands one after the other, each after its delay")
    func responseDelay() {
        var bench = Bench(central: { $0.responseDelay = .milliseconds(5) })
        bench.send("01 03 0C 00", from: bench.central)
        bench.send("01 09 10 00", from: bench.central)
        bench.run(.microseconds(4999))
        #expect(bench.received(by: bench.central) == [])
        bench.run(.microseconds(1))
        #expect(bench.received(by: bench.central) == ["04 0E 04 01 03 0C 00"])
        bench.run(.milliseconds(5))
        #expect(bench.received(by: bench.central) == ["04 0E 0A 01 09 10 00 C0 00 00 00 00 00"])
        #expect(bench.air.nextDeadline == nil)
    }

    @Test("Reset ends all activities and restores the defaults")
    func reset() {
        var bench = Bench()
        bench.connect()
        bench.prepare(bench.central, LESetScanEnable(isEnabled: true))
        #expect(bench.air[bench.central].isScanning && bench.air[bench.central].connectionCount == 1)
        #expect(bench.answer(to: "01 03 0C 00", from: bench.central) == "04 0E 04 01 03 0C 00")
        #expect(!bench.air[bench.central].isScanning && bench.air[bench.central].connectionCount == 0)
        // The handle is gone, and so is the mask that let LE events through.
        #expect(bench.answer(to: "01 05 14 02 40 00", from: bench.central) == "04 0E 04 01 05 14 02")
        bench.prepare(bench.peripheral, LESetAdvertisingEnable(isEnabled: true))
        bench.prepare(bench.central, LESetScanEnable(isEnabled: true))
        bench.run(.seconds(2))
        #expect(bench.received(by: bench.central) == [])
    }
}
