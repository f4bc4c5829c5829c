import Foundation
import Testing
// The submodule by itself, as most files have it that say `os_log`.
import os.log

@Suite("os_log")
struct FormatTests {
    init() { Recorder.bootstrap }

    private static var rows: [(StaticString, [Any?], String)] {
        [
            ("none", [], "none"),
            ("%d %ld %lu %u", [1, -2, UInt64.max, UInt8(4)], "1 -2 18446744073709551615 4"),
            ("%@ %{public}@", ["a", "b"], "<private> b"),
            ("%{public}s %{public}@", ["a", NSNumber(value: 5)], "a 5"),
            ("%{private}d %{sensitive}@ %{public, name=peer}@", [1, "a", "b"], "<private> <private> b"),
            ("%x %X %#x %o %08x", [255, 255, 255, 8, 0xBEEF], "ff FF 0xff 10 0000beef"),
            ("%5d|%-5d|%05d|%+d|%.3d", [1, 2, -3, 4, 5], "    1|2    |-0003|+4|005"),
            ("%.2f %g %.*f", [1.5, 0.25, 1, 2.55], "1.50 0.25 2.5"),
            ("100 %% %c", [65], "100 % A"),
            // What does not fit is described, not read as something that it is not.
            ("%d %s %f", ["five", 5, "x"], "<private> 5 <private>"),
            ("%{public}d", ["five"], "five"),
            ("%d %d", [1], "1 <decode: missing data>"),
            ("%{public}@", [nil], "(null)"),
            ("%", [], "%"),
            ("%{public", [], "%{public"),
        ]
    }

    @Test("Formats and their output", arguments: rows.indices)
    func format(row: Int) {
        let (format, arguments, expected) = Self.rows[row]
        let log = OSLog(subsystem: "format\(row)", category: "")
        switch arguments.count {
        case 0: os_log(format, log: log, type: .info)
        case 1: os_log(format, log: log, type: .info, arguments[0])
        case 2: os_log(format, log: log, type: .info, arguments[0], arguments[1])
        case 3: os_log(format, log: log, type: .info, arguments[0], arguments[1], arguments[2])
        case 4: os_log(format, log: log, type: .info, arguments[0], arguments[1], arguments[2], arguments[3])
        default:
            os_log(
                format, log: log, type: .info, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4])
        }
        #expect(Recorder.lines(of: "format\(row)") == ["info " + expected])
    }

    @Test("Every form of the call logs a message")
    func calls() {
        let log = OSLog(subsystem: "calls", category: "bluetooth")
        let name = "Heart"
        os_log("%{public}@ is gone", log: log, type: .error, name)
        os_log("plain", log: log)
        os_log(.debug, log: log, "old %d", 5)
        os_log(.fault, log: log, "new \(name, privacy: .public)")
        os_log(log: log, "\(5) new")
        os_log("%{public}@", log: log, type: .info, CBLike() as NSObject)
        #expect(
            Recorder.lines(of: "calls.bluetooth") == [
                "error Heart is gone", "notice plain", "debug old 5", "critical new Heart", "notice 5 new", "info peer",
            ])
        os_log("to the program's own")
        os_log("\(name) to the program's own")
        let lines = Recorder.lines(of: ProcessInfo.processInfo.processName)
        #expect(lines == ["notice to the program's own", "notice <private> to the program's own"])
        #expect(log.isEnabled(type: .debug) && !OSLog.disabled.isEnabled(type: .fault))
    }

    private final class CBLike: NSObject {
        override var description: String { "peer" }
    }
}
