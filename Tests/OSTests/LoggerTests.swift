import Foundation
import Testing
import os

@Suite("Logger")
struct LoggerTests {
    init() { Recorder.bootstrap }

    @Test("Each level maps to a swift-log level")
    func levels() {
        let logger = Logger(subsystem: "levels", category: "bluetooth")
        logger.trace("a")
        logger.debug("b")
        logger.info("c")
        logger.log("d")
        logger.notice("e")
        logger.warning("f")
        logger.error("g")
        logger.critical("h")
        logger.fault("i")
        logger.log(level: .debug, "j")
        logger.log(level: .default, "k")
        logger.log(level: .fault, "l")
        #expect(
            Recorder.lines(of: "levels.bluetooth") == [
                "trace a", "debug b", "info c", "notice d", "notice e", "warning f", "error g", "critical h",
                "critical i", "debug j", "notice k", "critical l",
            ])
    }

    private struct Sensor: CustomStringConvertible { let description = "sensor" }

    private static let rows: [(OSLogMessage, String)] = {
        let (name, count, on, share) = ("Heart", 7, true, 0.5)
        let (error, object) = (NSError(domain: "D", code: 1) as any Error, NSNumber(value: 5))
        return [
            ("plain", "plain"),
            // What is private by itself.
            ("\(name) \(Sensor()) \(object)", "<private> <private> <private>"),
            ("\(error) \([1, 2], privacy: .public)", "<private> [1, 2]"),
            ("\(count) \(on) \(share) \(Float(1.5)) \(CGFloat(2))", "7 true 0.500000 1.500000 2.000000"),
            ("\(UInt8(0xFF)) \(Int64.min)", "255 -9223372036854775808"),
            ("\(Sensor.self)", "Sensor"),
            // What is said of it.
            ("\(name, privacy: .public) \(object, privacy: .public)", "Heart 5"),
            ("\(count, privacy: .private) \(on, privacy: .private)", "<private> <private>"),
            ("\(name, privacy: .sensitive) \(name, privacy: .auto)", "<private> <private>"),
            ("\(nil as NSNumber?, privacy: .public)", "(null)"),
            // How it is written.
            ("[\(name, align: .left(columns: 7), privacy: .public)]", "[Heart  ]"),
            ("[\(name, align: .right(columns: 7), privacy: .public)]", "[  Heart]"),
            ("[\(name, align: .left(columns: 3), privacy: .public)]", "[Heart]"),
            ("\(255, format: .hex) \(255, format: .hex(includePrefix: true, uppercase: true))", "ff 0xFF"),
            ("\(Int8(-1), format: .hex(minDigits: 4)) \(8, format: .octal)", "00ff 10"),
            ("\(5, format: .decimal(explicitPositiveSign: true, minDigits: 3))", "+005"),
            ("\(-5, format: .decimal(minDigits: 2)) \(5, align: .right(columns: 3))", "-05   5"),
            ("\(share, format: .fixed(precision: 1)) \(share, format: .exponential(precision: 2))", "0.5 5.00e-01"),
            ("\(share, format: .hybrid) \(on, format: .answer) \(false, format: .truth)", "0.5 yes false"),
            // What may not reach a terminal.
            ("\("a\u{1B}[2J\u{202E}b\n\tc\u{7}", privacy: .public)", "a\\u{1b}[2J\\u{202e}b\n\tc\\u{7}"),
        ]
    }()

    @Test("Values follow their privacy, alignment and format options", arguments: rows.indices)
    func message(row: Int) {
        let label = "message\(row)"
        Logger(subsystem: label, category: "").info(Self.rows[row].0)
        #expect(Recorder.lines(of: label) == ["info " + Self.rows[row].1])
    }

    @Test("Equal values have equal hash masks, and different values have different ones")
    func mask() throws {
        let logger = Logger(subsystem: "mask", category: "")
        for name in ["Heart", "Heart", "Lung"] { logger.info("\(name, privacy: .private(mask: .hash))") }
        logger.info("\("Heart", privacy: .sensitive(mask: .hash))")
        let lines = Recorder.lines(of: "mask")
        #expect(lines.allSatisfy { $0.hasPrefix("info <mask.hash: '") && !$0.contains("Heart") })
        #expect(lines[0] == lines[1] && lines[1] != lines[2] && lines[0] == lines[3])
    }

    @Test("Messages below the log level are not evaluated")
    func lazy() {
        var calls = 0
        func expensive() -> Int {
            calls += 1
            return calls
        }
        let logger = Logger(subsystem: "lazy", category: "quiet")
        logger.info("\(expensive())")
        logger.error("\(expensive())")
        os_log("%d", log: OSLog(subsystem: "lazy", category: "quiet"), type: .info, 5)
        Logger(.disabled).fault("\(expensive())")
        #expect(Recorder.lines(of: "lazy.quiet") == ["error 1"])
        #expect(calls == 1)
    }

    @Test("Copies of a lock share it, and an error releases it")
    func lock() {
        struct Failure: Error {}
        let (lock, copy) = { ($0, $0) }(OSAllocatedUnfairLock(initialState: [Int]()))
        lock.withLock { $0.append(1) }
        #expect(throws: Failure.self) { try lock.withLock { _ in throw Failure() } }
        #expect(copy.withLockIfAvailable { $0.count } == 1)
        let inner = copy.withLockUnchecked { _ in lock.withLockIfAvailable { $0.count } }
        #expect(inner == nil)
        let plain = OSAllocatedUnfairLock()
        plain.lock()
        #expect(!plain.lockIfAvailable())
        plain.unlock()
        #expect(plain.withLock { 5 } == 5)
    }

    @Test("os_unfair_lock in memory that the program allocates")
    func unfairLock() {
        let lock = UnsafeMutablePointer<os_unfair_lock>.allocate(capacity: 1)
        defer { lock.deallocate() }
        lock.initialize(to: os_unfair_lock())
        os_unfair_lock_lock(lock)
        #expect(!os_unfair_lock_trylock(lock))
        os_unfair_lock_unlock(lock)
        #expect(os_unfair_lock_trylock(lock))
        os_unfair_lock_unlock(lock)
        var other = os_unfair_lock_s()
        os_unfair_lock_lock(&other)
        os_unfair_lock_unlock(&other)
    }
}
