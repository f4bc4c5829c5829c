import BluetoothBase
import Testing

@testable import BluetoothSimulation

@Suite("Controllers that fail repeatedly")
struct RecoveryTests {
    /// A hundred worlds in which something happens to a controller a hundred times, at any instant.
    @Test(
        "With controllers unplugged or reset at 10,000 instants, every call ends once, and operation continues",
        arguments: UInt64(0)..<100)
    func tenThousandInstants(_ seed: UInt64) {
        var scenario = Scenario(seed: seed, kind: .mixed)
        var generator = SeededGenerator(seed: seed)
        scenario.faults = (0..<100).map { number in
            let spread = generator.below(250_000)
            return .init(
                instant: .zero.advanced(by: .microseconds(1_000_000 + 280_000 * number + spread)),
                device: generator.below(scenario.devices.count), kind: generator.oneIn(2) ? .unplug : .hardwareError,
                duration: .microseconds(generator.below(100_000)), pick: generator.next())
        }
        let report = ScenarioRun(scenario).play()
        #expect(report.violations.isEmpty)
        #expect(report.faultCount == 100 && report.operationCount > 0)
    }
}
