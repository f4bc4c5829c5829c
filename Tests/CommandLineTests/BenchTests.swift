import BluetoothHCI
import BluetoothLE
import Testing

@testable import ble
@testable import BluetoothCommandLine

/// What `ble bench` counts.
struct BenchTests {
    @Test("A notification carries its number", arguments: [0, 1, 0x0102_0304, UInt32.max])
    func number(number: UInt32) {
        let notification = BenchService.notification(number, length: 20)
        #expect(notification.count == 20)
        #expect(BenchService.number(of: notification) == number)
        #expect(BenchService.number(of: [1, 2, 3]) == nil)
    }

    @Test("The first notification starts the time, and missing numbers count as lost")
    func meter() {
        let meter = NotificationMeter(), start = ContinuousClock.now
        for (number, offset) in [(UInt32.max - 1, 0), (UInt32.max, 10), (2, 30), (3, 40)] as [(UInt32, Int)] {
            meter.receive(BenchService.notification(number, length: 100), at: start + .milliseconds(offset))
        }
        meter.receive([1], at: start + .seconds(1))
        #expect(meter.result.octets == 300)
        #expect(meter.result.lostOctets == 200)
        #expect(meter.result.time == .milliseconds(40))
        #expect(meter.result.bitsPerSecond == 60_000)
    }

    @Test("Without notifications, the rate is zero")
    func empty() {
        #expect(NotificationMeter().result.bitsPerSecond == 0)
    }

    @Test(
        "Percentiles are by nearest rank",
        arguments: [(1...100, 50, 50), (1...100, 99, 99), (1...200, 99, 198), (1...1, 99, 1), (1...3, 50, 2)]
            as [(ClosedRange<Int>, Int, Int)])
    func percentile(times: ClosedRange<Int>, percentile: Int, expected: Int) {
        let none = BenchResult.Throughput(octets: 0, time: .zero, lostOctets: 0)
        let result = BenchResult(
            address: DeviceAddress(0xC011_2233_4455, kind: .random), mtu: 23, phys: LinkPHYs(),
            interval: .milliseconds(15),
            roundTrips: times.map { .milliseconds($0) }, writes: none, notifications: none)
        #expect(result.roundTrip(percentile: percentile) == .milliseconds(expected))
    }

    @Test("Attempts to reconnect follow after 1, 2, 4 … at most 30 seconds")
    func pauses() {
        var pauses = ReconnectPauses()
        #expect((0..<7).map { _ in pauses.next().duration } == [1, 2, 4, 8, 16, 30, 30].map { .seconds($0) })
        pauses.reset()
        #expect(pauses.next().duration == .seconds(1))
    }

    @Test(
        "The PHY of the link is shown, or both PHYs if they differ",
        arguments: [
            (LEPHY.le2M, LEPHY.le2M, "LE 2M", "\"transmitPHY\":\"2M\",\"receivePHY\":\"2M\""),
            (.leCoded, .le1M, "LE Coded out, LE 1M in", "\"transmitPHY\":\"Coded\",\"receivePHY\":\"1M\""),
        ])
    func phys(_ transmit: LEPHY, _ receive: LEPHY, _ text: String, _ json: String) {
        let none = BenchResult.Throughput(octets: 0, time: .zero, lostOctets: 0)
        let result = BenchResult(
            address: DeviceAddress(0xC011_2233_4455, kind: .random), mtu: 247,
            phys: LinkPHYs(transmit: transmit, receive: receive), interval: .milliseconds(15), roundTrips: [],
            writes: none, notifications: none)
        #expect(result.lines[0] == "C0:11:22:33:44:55  ATT_MTU 247, interval 15.0 ms, \(text)")
        #expect(result.json.replacing(" ", with: "").contains(json))
    }
}
