import BluetoothBase
import BluetoothHCI
import BluetoothHost
import BluetoothSimulation
import TestSupport
import Testing

@Suite("Restarting a silent scan")
struct ScanWatchdogTests {
    static let restart: [HCIOpcode] = [.leSetScanEnable, .leSetScanParameters, .leSetScanEnable]

    static func scanning(
        _ answers: [HCIOpcode: ScriptedController.Answer] = [:], _ parameters: ScanParameters = ScanParameters(),
        limit: Duration? = .seconds(60)
    ) throws -> ScriptedController {
        var controller = ScriptedController.ready(answers) { $0.scanSilenceLimit = limit }
        try controller.host.startScanning(parameters, at: controller.now)
        controller.settle()
        controller.commands.removeAll()
        return controller
    }

    @Test("A silent scan is restarted when the limit has passed, and not before", arguments: [60, 5])
    func restarts(_ seconds: Int) throws {
        var controller = try Self.scanning(limit: .seconds(seconds))
        controller.run(for: .seconds(seconds) - .nanoseconds(1))
        #expect(controller.takeOpcodes() == [])
        controller.run(for: .nanoseconds(1))
        #expect(controller.takeOpcodes() == Self.restart)
        #expect(controller.takeEvents() == [], "the restart is not reported")
        controller.receive(ScanningTests.report)
        #expect(controller.takeEvents() == ["advertisement -40"])
    }

    @Test("Reports postpone the restart without moving a timer")
    func reports() throws {
        var controller = try Self.scanning()
        let deadline = controller.host.nextDeadline
        for _ in 0..<10 {
            controller.run(for: .seconds(5))
            controller.receive(ScanningTests.report)
            #expect(controller.host.nextDeadline == deadline)
        }
        for _ in 0..<100 {
            controller.run(for: .seconds(50))
            controller.receive(ScanningTests.report)
        }
        #expect(controller.takeOpcodes() == [])
        controller.run(for: .seconds(60) - .nanoseconds(1))
        #expect(controller.takeOpcodes() == [])
        controller.run(for: .nanoseconds(1))
        #expect(controller.takeOpcodes() == Self.restart)
    }

    @Test("Without any reports, restarts become less frequent, down to one per hour")
    func emptyRoom() throws {
        var controller = try Self.scanning()
        var gaps: [Duration] = []
        var last = controller.now
        while gaps.count < 9, let deadline = controller.host.nextDeadline {
            controller.run(for: controller.now.duration(to: deadline))
            guard !controller.takeOpcodes().isEmpty else { continue }
            gaps.append(last.duration(to: controller.now))
            last = controller.now
        }
        #expect(gaps == [60, 120, 240, 480, 960, 1920, 3600, 3600, 3600].map { .seconds($0) })
        controller.receive(ScanningTests.report)
        controller.run(for: .seconds(60))
        #expect(controller.takeOpcodes() == Self.restart, "one report restores its timeout")
    }

    @Test("No timer runs without a scan, a limit, or duplicate reports")
    func noTimer() throws {
        var quiet = try Self.scanning([:], ScanParameters(reportsDuplicates: false))
        #expect(quiet.host.nextDeadline == nil)
        var unwatched = try Self.scanning(limit: nil)
        #expect(unwatched.host.nextDeadline == nil)
        var controller = try Self.scanning()
        #expect(controller.host.nextDeadline != nil)
        controller.host.stopScanning(at: controller.now)
        controller.settle()
        #expect(controller.host.nextDeadline == nil)
        controller.run(for: .seconds(3600))
        #expect(controller.takeOpcodes() == [.leSetScanEnable])
    }

    @Test("Starting a scan again restores its timeout")
    func askedForAgain() throws {
        var controller = try Self.scanning()
        controller.run(for: .seconds(1000))
        controller.host.stopScanning(at: controller.now)
        try controller.host.startScanning(ScanParameters(), at: controller.now)
        controller.settle()
        controller.commands.removeAll()
        controller.run(for: .seconds(60))
        #expect(controller.takeOpcodes() == Self.restart)
    }

    @Test("A scan that is stopped during a restart stays stopped")
    func stoppedMeanwhile() throws {
        var controller = try Self.scanning([.leSetScanParameters: .silence])
        controller.answers[.leSetScanParameters] = nil
        controller.complete(.leSetScanParameters)
        controller.answers[.leSetScanEnable] = .silence
        controller.run(for: .seconds(60))
        controller.host.stopScanning(at: controller.now)
        controller.complete(.leSetScanEnable)
        controller.run(for: .seconds(100))
        #expect(controller.takeOpcodes().count { $0 == .leSetScanParameters } == 0)
        #expect(controller.host.nextDeadline == nil)
    }

    @Test("A controller that does not answer the restart is reset, and scans again")
    func unanswered() throws {
        var controller = try Self.scanning()
        controller.answers[.leSetScanEnable] = .silence
        controller.run(for: .seconds(61))
        #expect(controller.takeOpcodes() == [.leSetScanEnable])
        controller.answers[.leSetScanEnable] = nil
        controller.run(for: .seconds(1))
        let commands = controller.takeOpcodes()
        #expect(commands.first == .reset)
        #expect(commands.suffix(2) == [.leSetScanParameters, .leSetScanEnable])
        #expect(controller.takeEvents() == ["resetting: no answer to \(HCIOpcode.leSetScanEnable)", "ready"])
    }

    @Test("Restarts do not affect links")
    func othersGoOn() throws {
        var controller = try Self.scanning(limit: .seconds(2))
        let link = try controller.connect()
        controller.run(for: .seconds(20))
        #expect(controller.host.connectedLinks == [link])
        #expect(Set(controller.takeOpcodes()) == [.leSetScanEnable, .leSetScanParameters])
    }
}
