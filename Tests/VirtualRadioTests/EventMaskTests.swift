import BluetoothBase
import BluetoothHCI
import Testing
import VirtualRadio

@Suite("Event masks")
struct EventMaskTests {
    static let meta = EventMask(rawValue: EventMask.default.rawValue | EventMask.leMeta.rawValue)

    @Test(
        "LE Meta events need both masks",
        arguments: [
            (EventMask.default, LEEventMask.default, false), (meta, .default, true), (meta, .connectionComplete, false),
            (meta, .advertisingReport, true), (.leMeta, .advertisingReport, true),
        ])
    func advertisingReports(mask: EventMask, leMask: LEEventMask, isReported: Bool) {
        var bench = Bench()
        bench.prepare(
            bench.central, SetEventMask(eventMask: mask), LESetEventMask(eventMask: leMask),
            LESetScanEnable(isEnabled: true))
        bench.startAdvertising()
        bench.run(.zero)
        #expect(bench.received(by: bench.central).isEmpty != isReported)
    }

    @Test("Disconnection Complete can be masked; answers to commands cannot")
    func classicMask() {
        var bench = Bench()
        bench.connect()
        bench.prepare(bench.central, SetEventMask(eventMask: []))
        #expect(bench.answer(to: "01 06 04 03 40 00 13", from: bench.central) == "04 0F 04 00 01 06 04")
        bench.run(.seconds(1))
        #expect(bench.received(by: bench.central) == [])
        #expect(bench.received(by: bench.peripheral) == ["04 05 04 00 40 00 13"])
        #expect(bench.answer(to: "01 09 10 00", from: bench.central) == "04 0E 0A 01 09 10 00 C0 00 00 00 00 00")
    }

    @Test("Enhanced Connection Complete replaces Connection Complete for a host that unmasked it")
    func enhancedConnectionComplete() {
        var bench = Bench()
        bench.unmask()
        bench.prepare(bench.central, LESetEventMask(eventMask: [.connectionComplete, .enhancedConnectionComplete]))
        bench.prepare(bench.central, Bench.createConnection())
        bench.startAdvertising()
        bench.run(.zero)
        #expect(
            bench.received(by: bench.central) == [
                "04 3E 1F 0A 00 40 00 00 00 A0 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 18 00 00 00 64 00 00"
            ])
    }
}
