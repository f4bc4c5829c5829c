import BluetoothBase
import BluetoothHCI
import TestSupport
import Testing
import VirtualRadio

@Suite("Power control and path loss")
struct PowerTests {
    private static func linked(_ peripheral: (inout ControllerConfiguration) -> Void = { _ in }) -> Bench {
        var bench = Bench(
            central: {
                $0.features.formUnion(.power)
                $0.transmitPower = 8
            },
            peripheral: {
                $0.features.formUnion(.power)
                peripheral(&$0)
            })
        bench.connect()
        bench.prepare(bench.central, LESetEventMask(eventMask: [.pathLossThreshold, .transmitPowerReporting]))
        return bench
    }

    @Test("A controller reads its own power at once, and the peer's by a procedure")
    func read() {
        var bench = Self.linked { $0.transmitPower = 4 }
        bench.send(LEEnhancedReadTransmitPowerLevel(connectionHandle: 0x40, phy: .le1M), from: bench.central)
        #expect(bench.received(by: bench.central) == ["04 0E 09 01 76 20 00 40 00 01 08 08"])
        bench.send(LEReadRemoteTransmitPowerLevel(connectionHandle: 0x40, phy: .le1M), from: bench.central)
        bench.send(LEReadRemoteTransmitPowerLevel(connectionHandle: 0x40, phy: .le1M), from: bench.central)
        #expect(bench.received(by: bench.central) == ["04 0F 04 00 01 77 20", "04 0F 04 0C 01 77 20"])
        bench.run(.milliseconds(100))
        // Reason 2, and the most there is.
        #expect(bench.received(by: bench.central) == ["04 3E 09 21 00 40 00 02 01 04 02 00"])
    }

    @Test("A peer without power control is reported as such")
    func peerWithout() {
        var bench = Self.linked { $0.features.remove(.powerControlRequest) }
        bench.send(LEReadRemoteTransmitPowerLevel(connectionHandle: 0x40, phy: .le2M), from: bench.central)
        bench.run(.milliseconds(100))
        #expect(bench.received(by: bench.central) == ["04 0F 04 00 01 77 20", "04 3E 09 21 1A 40 00 02 02 00 00 00"])
        bench.send(LEEnhancedReadTransmitPowerLevel(connectionHandle: 0x40, phy: .le1M), from: bench.peripheral)
        #expect(bench.received(by: bench.peripheral) == ["04 0F 04 01 01 76 20"])
    }

    @Test("Power changes are reported to hosts that enabled them, and lower power weakens the signal")
    func changes() {
        var bench = Self.linked { $0.transmitPower = 4 }
        bench.send(
            LESetTransmitPowerReportingEnable(connectionHandle: 0x40, reportsLocal: false, reportsRemote: true),
            from: bench.central)
        #expect(bench.received(by: bench.central) == ["04 0E 06 01 7A 20 00 40 00"])
        bench.air.setTransmitPower(of: bench.central, to: 0, at: bench.now)
        bench.air.setTransmitPower(of: bench.peripheral, to: -3, at: bench.now)
        bench.air.setTransmitPower(of: bench.peripheral, to: 100, at: bench.now)
        #expect(
            bench.received(by: bench.central) == [
                "04 3E 09 21 00 40 00 01 01 FD 00 F9", "04 3E 09 21 00 40 00 01 01 04 02 07",
            ])
        bench.air.setTransmitPower(of: bench.peripheral, to: -3, at: bench.now)
        bench.send(ReadRSSI(connectionHandle: 0x40), from: bench.central)
        #expect(bench.received(by: bench.central).last == "04 0E 07 01 05 14 00 40 00 CB")
    }

    private static func monitor(_ bench: inout Bench, _ events: UInt16) {
        bench.send(
            LESetPathLossReportingParameters(
                connectionHandle: 0x40, highThreshold: 70, highHysteresis: 5, lowThreshold: 40, lowHysteresis: 5,
                minTimeSpent: events), from: bench.central)
        bench.send(LESetPathLossReportingEnable(connectionHandle: 0x40, isEnabled: true), from: bench.central)
    }

    /// The path loss that is set, and the zone that is entered by it, with one behind the other.
    @Test("A zone is entered only beyond the hysteresis")
    func hysteresis() {
        var bench = Self.linked()
        Self.monitor(&bench, 0)
        bench.run(.milliseconds(100))
        let answers = ["04 0E 06 01 78 20 00 40 00", "04 0E 06 01 79 20 00 40 00"]
        #expect(bench.received(by: bench.central) == answers + ["04 3E 05 20 40 00 32 01"])
        let steps: [(Int, [String])] = [
            (75, []), (76, ["04 3E 05 20 40 00 4C 02"]), (65, []), (64, ["04 3E 05 20 40 00 40 01"]), (35, []),
            (34, ["04 3E 05 20 40 00 22 00"]), (45, []), (46, ["04 3E 05 20 40 00 2E 01"]),
            (80, ["04 3E 05 20 40 00 50 02"]), (0, ["04 3E 05 20 40 00 00 00"]),
        ]
        for (loss, reports) in steps {
            bench.air.setPathLoss(between: bench.central, and: bench.peripheral, to: loss, at: bench.now)
            bench.run(.milliseconds(100))
            #expect(bench.received(by: bench.central) == reports, "\(loss) dB")
        }
        bench.send(LESetPathLossReportingEnable(connectionHandle: 0x40, isEnabled: false), from: bench.central)
        bench.air.setPathLoss(between: bench.central, and: bench.peripheral, to: 80, at: bench.now)
        #expect(bench.air.nextDeadline == nil)
    }

    @Test("A zone is reported once it has lasted for the minimum time")
    func lasting() {
        var bench = Self.linked()
        Self.monitor(&bench, 10)
        bench.run(.seconds(1))
        _ = bench.received(by: bench.central)
        bench.air.setPathLoss(between: bench.central, and: bench.peripheral, to: 90, at: bench.now)
        bench.run(.milliseconds(200))
        bench.air.setPathLoss(between: bench.central, and: bench.peripheral, to: 50, at: bench.now)
        bench.run(.seconds(1))
        #expect(bench.received(by: bench.central) == [])
        bench.air.setPathLoss(between: bench.central, and: bench.peripheral, to: 90, at: bench.now)
        bench.run(.seconds(1))
        #expect(bench.received(by: bench.central) == ["04 3E 05 20 40 00 5A 02"])
    }

    @Test("Invalid requests are rejected")
    func refused() {
        var bench = Self.linked()
        bench.send(LESetPathLossReportingEnable(connectionHandle: 0x40, isEnabled: true), from: bench.central)
        bench.send(
            LESetPathLossReportingParameters(
                connectionHandle: 0x40, highThreshold: 50, highHysteresis: 5, lowThreshold: 45, lowHysteresis: 5,
                minTimeSpent: 0), from: bench.central)
        bench.send(LESetPathLossReportingEnable(connectionHandle: 0x41, isEnabled: true), from: bench.central)
        bench.send(LEReadRemoteTransmitPowerLevel(connectionHandle: 0x41, phy: .le1M), from: bench.central)
        #expect(
            bench.received(by: bench.central) == [
                "04 0E 06 01 79 20 0C 40 00", "04 0E 06 01 78 20 12 40 00", "04 0E 06 01 79 20 02 41 00",
                "04 0F 04 02 01 77 20",
            ])
    }
}
