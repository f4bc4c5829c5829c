import BluetoothBase
import BluetoothHCI
import Testing
import VirtualRadio

@Suite("Weather on the air")
struct AirWeatherTests {
    /// The weather of some time between three controllers: when each fade begins, and between whom.
    private static func story(seed: UInt64, _ check: (Air, [ControllerID]) -> Void = { _, _ in }) -> [String] {
        var air = Air(seed: 1)
        let controllers = (0..<3).map { index in
            air.addController(ControllerConfiguration(publicAddress: DeviceAddress(UInt64(index), kind: .public)))
        }
        air.setPathLoss(from: controllers[0], to: controllers[1], to: 60, at: .zero)
        var weather = AirWeather(seed: seed, at: .zero), lines: [String] = []
        while case let now = weather.nextDeadline, now.nanoseconds < 3_600_000_000_000 {
            if let fade = weather.fire(at: now, on: &air) {
                lines.append("\(now.nanoseconds) \(fade)")
                #expect(air.pathLoss(from: fade.first, to: fade.second) > 200)
                #expect(air.pathLoss(from: fade.second, to: fade.first) > 200)
                #expect(weather.nextDeadline <= now.advanced(by: fade.duration))
            }
            #expect(weather.nextDeadline > now)
            check(air, controllers)
        }
        // No new ones: all end.
        weather.pause = .seconds(10_000)...(.seconds(10_000))
        var now = weather.nextDeadline
        _ = weather.fire(at: now, on: &air)
        for _ in 0..<10 where weather.nextDeadline < now.advanced(by: .seconds(9000)) {
            now = weather.nextDeadline
            _ = weather.fire(at: now, on: &air)
        }
        let losses = controllers.flatMap { first in
            controllers.filter { $0 != first }.map { air.pathLoss(from: first, to: $0) }
        }
        #expect(losses == [60, 50, 50, 50, 50, 50], "each path is as it was before")
        return lines
    }

    @Test("The same seed gives the same weather, with fades that begin and end, and another seed gives another")
    func determinism() {
        let first = Self.story(seed: 1)
        #expect(first == Self.story(seed: 1))
        #expect(first != Self.story(seed: 2))
        // On average every ten seconds.
        #expect((250...500).contains(first.count))
    }

    @Test("A long fade ends a link, and a short one only delays its data")
    func links() {
        for (duration, isLost) in [(Duration.milliseconds(100), false), (.seconds(2), true)] {
            var bench = Bench()
            bench.connect()
            var weather = AirWeather(seed: 1, at: bench.now)
            weather.fade = duration...duration
            weather.silence = duration...duration
            bench.run(bench.now.duration(to: weather.nextDeadline))
            let fade = weather.fire(at: bench.now, on: &bench.air)
            #expect(fade?.duration == duration)
            bench.send("02 40 00 01 00 AA", from: bench.central)
            bench.run(duration)
            #expect(bench.received(by: bench.peripheral) == (isLost ? ["04 05 04 00 40 00 08"] : []))
            _ = weather.fire(at: bench.now, on: &bench.air)
            bench.run(.milliseconds(60))
            #expect(bench.received(by: bench.peripheral) == (isLost ? [] : ["02 40 20 01 00 AA"]))
        }
    }

    @Test("A single controller has no weather")
    func alone() {
        var air = Air(seed: 1)
        _ = air.addController(ControllerConfiguration(publicAddress: DeviceAddress(1, kind: .public)))
        var weather = AirWeather(seed: 1, at: .zero)
        for _ in 0..<10 { #expect(weather.fire(at: weather.nextDeadline, on: &air) == nil) }
    }
}
