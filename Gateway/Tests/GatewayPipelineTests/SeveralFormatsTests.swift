import BluetoothBase
import Testing
@testable import GatewayPipeline

/// Devices that send packets of several formats in turn.
@Suite struct SeveralFormatsTests {
    /// A pipeline whose rate limit for a device delays nothing.
    func pipeline() -> Pipeline {
        var settings = PipelineSettings()
        settings.deviceBurst = 100
        return Pipeline(settings)
    }

    /// Presses with and without a number, and the packets in between.
    static let presses = ["00013A01", "3A01"]
    static let others = [Beacon.iBeacon, eddystoneTLM, [0x02, 0x01, 0x06]]

    @Test("A press that is repeated is one event, whatever is sent in between", arguments: presses, others)
    func repeatedPress(press: String, other: [UInt8]) {
        var pipeline = pipeline()
        var events: [String] = []
        for step in 0..<10 {
            let packet = step.isMultiple(of: 2) ? bthome(press) : other
            events += pipeline.texts(Reception(packet, at: 1 + Double(step) / 10)).filter { $0.hasPrefix("event") }
        }
        #expect(events == ["event -60@hci0 button=press"])
    }

    @Test(
        "A press without a number is a new one after the sensor's silence, whatever the beacon sends", arguments: others
    )
    func pressAfterSilence(other: [UInt8]) {
        var pipeline = pipeline()
        var events: [Double] = []
        // The packets at 2 and 3 s are the same as the one before, which must not count as silence.
        for second in [1.0, 2, 3, 7.5, 8.5, 14] {
            if !pipeline.texts(Reception(bthome("3A01"), at: second)).filter({ $0.hasPrefix("event") }).isEmpty {
                events.append(second)
            }
            guard second >= 3 else { continue }
            for step in 1..<6 { _ = pipeline.texts(Reception(other, at: second + Double(step) / 10)) }
        }
        #expect(events == [1, 14])
    }

    @Test("A press after a packet that reports none is a new one")
    func pressAfterNone() {
        var pipeline = pipeline()
        let events = ["3A01", "3A00", "3A01"].enumerated().flatMap { step, packet in
            pipeline.texts(Reception(bthome(packet), at: 1 + Double(step) / 10)).filter { $0.hasPrefix("event") }
        }
        #expect(events.count == 2)
    }

    static let orders = [
        ([serviceData("442D01"), Beacon.iBeacon], ["bthome", "bthome"], [true, true]),
        ([Beacon.iBeacon, serviceData("442D01")], ["ibeacon", "bthome"], [false, true]),
        ([eddystoneTLM, Beacon.eddystoneUID], ["eddystone-tlm", "eddystone-tlm"], [false, false]),
        ([Beacon.iBeacon, Beacon.eddystoneURL], ["ibeacon", "eddystone-url"], [false, false]),
        // A packet without values is not a beacon's.
        ([Beacon.iBeacon, serviceData("44")], ["ibeacon", "bthome"], [false, true]),
    ]

    @Test("A beacon's packet does not hide that a device is a sensor", arguments: orders)
    func formats(packets: [[UInt8]], formats: [String], isTriggerBased: [Bool]) {
        var pipeline = pipeline()
        var reports: [Report] = []
        for (step, packet) in packets.enumerated() {
            // Each is reported: the last report is longer ago than the interval for repetitions.
            reports += pipeline.receive(Reception(packet, at: 1 + 100 * Double(step)), at: epoch)
        }
        #expect(reports.map(\.format) == formats)
        #expect(reports.map(\.isTriggerBased) == isTriggerBased)
    }
}
