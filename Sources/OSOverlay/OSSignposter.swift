// swift-format-ignore-file: AlwaysUseLowerCamelCase
import Foundation
import Logging
import Synchronization

/// Identifies an interval among intervals with the same name.
public struct OSSignpostID: Hashable, Comparable, Sendable {
    /// The number of the ID, which the log shows after `#`.
    public let rawValue: UInt64

    /// Creates an ID from a caller-chosen number.
    public init(_ value: UInt64) { rawValue = value }

    /// Creates a new ID.
    public init(log: OSLog) { self = .next() }

    /// Creates the ID of an object.
    public init(log: OSLog, object: AnyObject) { self = .of(object) }

    /// The ID for intervals of which only one is active at a time.
    public static let exclusive = OSSignpostID(0xEEEE_B0B5_B2B2_EEEE)
    /// The ID with the highest number. It is logged like any other ID.
    public static let invalid = OSSignpostID(.max)
    /// The ID with the number 0. It is logged like any other ID.
    public static let null = OSSignpostID(0)

    /// Whether the number of the first ID is lower.
    public static func < (lhs: OSSignpostID, rhs: OSSignpostID) -> Bool { lhs.rawValue < rhs.rawValue }

    static func next() -> OSSignpostID { .init(last.wrappingAdd(1, ordering: .relaxed).newValue) }

    static func of(_ object: AnyObject) -> OSSignpostID {
        .init(UInt64(UInt(bitPattern: ObjectIdentifier(object))))
    }
}

private let last = Atomic<UInt64>(0)

/// An interval that has started.
public struct OSSignpostIntervalState: Sendable {
    /// The ID that was passed when the interval began.
    public let signpostID: OSSignpostID
    fileprivate let start: ContinuousClock.Instant

    static func beginState(id: OSSignpostID) -> OSSignpostIntervalState {
        .init(signpostID: id, start: .now)
    }
}

/// Logs the start and end of intervals, with their duration, at the level `trace` of swift-log.
public struct OSSignposter: Sendable {
    private let log: OSLog

    /// A signposter that logs nothing.
    public static var disabled: OSSignposter { .init(logHandle: .disabled) }

    /// Creates a signposter that writes to `OSLog.default`.
    public init() { log = .default }

    /// Creates a signposter whose swift-log label is `subsystem.category`. An empty part is omitted.
    public init(subsystem: String, category: String) { log = OSLog(subsystem: subsystem, category: category) }

    /// Creates a signposter whose swift-log label is `subsystem`, followed by the name of `category`.
    public init(subsystem: String, category: OSLog.Category) {
        log = OSLog(subsystem: subsystem, category: category)
    }

    /// Creates a signposter that writes to `logHandle`.
    public init(logHandle: OSLog) { log = logHandle }

    /// Creates a signposter that writes to the destination of `logger`.
    public init(logger: Logger) { log = logger.log }

    /// Whether signposts are logged. This requires the level `trace` of swift-log.
    public var isEnabled: Bool { log.signpostsEnabled }

    /// Returns a new ID, for an interval that may overlap others with the same name.
    public func makeSignpostID() -> OSSignpostID { .next() }

    /// Returns the ID of an object. It is the same for as long as the object exists.
    public func makeSignpostID(from object: AnyObject) -> OSSignpostID { .of(object) }

    /// Logs the start of an interval. Pass the result to `endInterval(_:_:_:)` to log its end.
    public func beginInterval(
        _ name: StaticString, id: OSSignpostID = .exclusive, _ message: @autoclosure () -> OSLogMessage = ""
    ) -> OSSignpostIntervalState {
        write("begin", name, id, message)
        return .beginState(id: id)
    }

    /// Logs the start of an animation's interval. Here, it is the same as `beginInterval(_:id:_:)`.
    public func beginAnimationInterval(
        _ name: StaticString, id: OSSignpostID = .exclusive, _ message: @autoclosure () -> OSLogMessage = ""
    ) -> OSSignpostIntervalState {
        beginInterval(name, id: id, message())
    }

    /// Logs the end of an interval, with the time since it began.
    public func endInterval(
        _ name: StaticString, _ state: OSSignpostIntervalState, _ message: @autoclosure () -> OSLogMessage = ""
    ) {
        guard isEnabled else { return }
        write("end after \(ContinuousClock.now - state.start)", name, state.signpostID, message)
    }

    /// Logs an event, which has no duration.
    public func emitEvent(
        _ name: StaticString, id: OSSignpostID = .exclusive, _ message: @autoclosure () -> OSLogMessage = ""
    ) {
        write("event", name, id, message)
    }

    /// Calls a closure, and logs the start and the end of the call, even if the closure throws. Only the start has the
    /// message.
    public func withIntervalSignpost<Result>(
        _ name: StaticString, id: OSSignpostID = .exclusive, _ message: @autoclosure () -> OSLogMessage = "",
        around task: () throws -> Result
    ) rethrows -> Result {
        let state = beginInterval(name, id: id, message())
        defer { endInterval(name, state) }
        return try task()
    }

    private func write(
        _ what: @autoclosure () -> String, _ name: StaticString, _ id: OSSignpostID, _ message: () -> OSLogMessage
    ) {
        log.signpost(what(), "\(name)", id) { message().text }
    }
}

/// The kind of a signpost.
public struct OSSignpostType: RawRepresentable, Hashable, Sendable {
    /// The number of the kind. Numbers without a constant are logged like `event`.
    public let rawValue: UInt8

    /// Creates a kind from its number.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// An event, which has no duration.
    public static let event = OSSignpostType(rawValue: 0)
    /// The start of an interval.
    public static let begin = OSSignpostType(rawValue: 1)
    /// The end of an interval.
    public static let end = OSSignpostType(rawValue: 2)
}

/// Logs the start or end of an interval, or an event.
public func os_signpost(
    _ type: OSSignpostType, dso: UnsafeRawPointer? = nil, log: OSLog, name: StaticString,
    signpostID: OSSignpostID = .exclusive
) {
    log.signpost(type.word, "\(name)", signpostID) { "" }
}

/// Logs the start or end of an interval, or an event, with a format and its arguments.
public func os_signpost(
    _ type: OSSignpostType, dso: UnsafeRawPointer? = nil, log: OSLog, name: StaticString,
    signpostID: OSSignpostID = .exclusive, _ format: StaticString, _ arguments: Any?...
) {
    log.signpost(type.word, "\(name)", signpostID) { FormatString.text("\(format)", arguments) }
}

extension OSSignpostType {
    fileprivate var word: String {
        switch self {
        case .begin: "begin"
        case .end: "end"
        default: "event"
        }
    }
}

extension OSLog {
    fileprivate func signpost(
        _ what: @autoclosure () -> String, _ name: String, _ id: OSSignpostID, _ message: () -> String
    ) {
        log(
            .trace,
            {
                let (text, number) = (message(), id == .exclusive ? "" : " #\(id.rawValue)")
                return "\(name)\(number): \(what())" + (text.isEmpty ? "" : ", \(text)")
            }, file: #fileID, function: #function, line: #line)
    }
}
