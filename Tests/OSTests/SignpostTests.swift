import OSLog
import Testing

@Suite("Signposts")
struct SignpostTests {
    init() { Recorder.bootstrap }

    /// Without how long it took.
    private func lines(_ label: String) -> [String] {
        Recorder.lines(of: label).map { $0.replacing(/after [0-9.e-]+ seconds/, with: "after …") }
    }

    @Test("Intervals and events of OSSignposter are logged as messages")
    func signposter() throws {
        let signposter = OSSignposter(subsystem: "signposter", category: .pointsOfInterest)
        let state = signposter.beginInterval("connect", id: OSSignpostID(7), "to \("Heart", privacy: .public)")
        signposter.emitEvent("found")
        signposter.endInterval("connect", state)
        let result = signposter.withIntervalSignpost("read") { 5 }
        #expect(result == 5)
        #expect(
            lines("signposter.PointsOfInterest") == [
                "trace connect #7: begin, to Heart", "trace found: event", "trace connect #7: end after …",
                "trace read: begin", "trace read: end after …",
            ])
        let (one, other) = (signposter.makeSignpostID(), signposter.makeSignpostID())
        #expect(one != other)
        #expect(
            !OSSignposter.disabled.isEnabled && OSSignposter(logger: Logger(subsystem: "x", category: "")).isEnabled)
    }

    @Test("Intervals and events of os_signpost are logged as messages")
    func function() {
        let log = OSLog(subsystem: "function", category: "")
        let id = OSSignpostID(log: log)
        os_signpost(.begin, log: log, name: "scan", signpostID: id, "%d services", 2)
        os_signpost(.event, log: log, name: "scan", signpostID: id, "%{public}@", "Heart")
        os_signpost(.end, log: log, name: "scan", signpostID: id)
        os_signpost(.event, log: log, name: "done")
        let number = "#\(id.rawValue)"
        #expect(
            lines("function") == [
                "trace scan \(number): begin, 2 services", "trace scan \(number): event, Heart",
                "trace scan \(number): end", "trace done: event",
            ])
    }
}
