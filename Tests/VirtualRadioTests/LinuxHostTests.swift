import BluetoothBase
import BluetoothHCI
import TestSupport
import Testing
import VirtualRadio

/// The commands of the Linux 6.1 kernel's host, with BlueZ 5.66 above it, as it sent them to a virtual controller
/// through `/dev/vhci`.
@Suite("The Linux kernel as the host")
struct LinuxHostTests {
    /// Its commands when the adapter appears, and each time it is brought up.
    private static let bringUp = [
        "01 03 0C 00", "01 03 10 00", "01 01 10 00", "01 09 10 00", "01 02 10 00", "01 03 20 00", "01 02 20 00",
        "01 1C 20 00", "01 01 0C 08 90 E8 04 02 00 80 00 20", "01 01 20 08 7F 08 00 00 00 00 00 00", "01 07 20 00",
        "01 4B 20 00", "01 0F 20 00", "01 10 20 00", "01 2A 20 00", "01 29 20 00", "01 2E 20 02 84 03", "01 2F 20 00",
        "01 23 20 00", "01 24 20 04 FB 00 48 08", "01 31 20 03 00 01 01",
    ]

    /// Brings the central's controller up, and returns what was not answered at once and with success.
    private func failures(_ commands: [String], _ bench: inout Bench) -> [String] {
        commands.filter { command in
            let code = command.split(separator: " ")[1...2].joined(separator: " ")
            let answer = bench.answer(to: command, from: bench.central)
            return answer.contains(";") || !answer.hasPrefix("04 0E ")
                || answer.dropFirst(9).prefix(11) != "01 \(code) 00"
        }
    }

    @Test("every command that brings an adapter up succeeds, also the second time")
    func bringsUp() {
        var bench = Bench()
        #expect(failures(Self.bringUp, &bench) == [])
        #expect(failures(Self.bringUp, &bench) == [])
        #expect(bench.air.nextDeadline == nil)
    }

    @Test("BlueZ finds an advertiser, connects to it through its background scan, and disconnects")
    func connects() {
        var bench = Bench()
        bench.prepare(bench.peripheral, LESetAdvertisingData(data: bytes("02 01 06")))
        bench.startAdvertising()
        #expect(failures(Self.bringUp, &bench) == [])

        // The user scans, with a private address.
        let scan = [
            "01 05 20 06 CD 4C BE 6D 75 34", "01 0B 20 07 01 12 00 12 00 01 00", "01 0C 20 02 01 01",
        ]
        #expect(failures(scan, &bench) == [])
        bench.run(.seconds(1))
        #expect(
            bench.received(by: bench.central) == [
                "04 3E 0F 02 01 00 00 A0 00 00 00 00 00 03 02 01 06 CE", "04 3E 0C 02 01 04 00 A0 00 00 00 00 00 00 CE",
            ], "once each: an advertisement and a scan response")

        // It waits for a device to connect to, with the filter accept list.
        let background = [
            "01 0C 20 02 00 00", "01 11 20 07 00 A0 00 00 00 00 00", "01 0B 20 07 00 60 00 60 00 00 01",
            "01 0C 20 02 01 01",
        ]
        #expect(failures(background, &bench) == [])
        bench.run(.seconds(1))
        #expect(bench.received(by: bench.central) == ["04 3E 0F 02 01 00 00 A0 00 00 00 00 00 03 02 01 06 CE"])
        #expect(failures(["01 0C 20 02 00 00"], &bench) == [])
        let connect = "01 0D 20 19 60 00 60 00 00 00 A0 00 00 00 00 00 00 18 00 28 00 00 00 2A 00 00 00 00 00"
        #expect(bench.answer(to: connect, from: bench.central) == "04 0F 04 00 01 0D 20")
        bench.run(.milliseconds(120))
        #expect(
            bench.received(by: bench.central) == ["04 3E 13 01 00 40 00 00 00 A0 00 00 00 00 00 18 00 00 00 2A 00 00"])

        #expect(bench.answer(to: "01 16 20 02 40 00", from: bench.central) == "04 0F 04 00 01 16 20")
        bench.run(.milliseconds(200))
        #expect(
            bench.received(by: bench.central) == [
                "04 3E 0B 07 40 00 FB 00 48 08 1B 00 48 01", "04 3E 0C 04 00 40 00 2F 01 00 00 00 00 00 00",
            ])
        #expect(bench.answer(to: "01 06 04 03 40 00 13", from: bench.central) == "04 0F 04 00 01 06 04")
        bench.run(.seconds(1))
        #expect(bench.received(by: bench.central) == ["04 05 04 00 40 00 16"])
    }
}
