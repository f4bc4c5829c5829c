// swift-format-ignore-file: AlwaysUseLowerCamelCase
import Foundation
import Logging
import Synchronization

/// What tells intervals of one name from each other.
public struct OSSignpostID: Hashable, Comparable, Sendable {
    public let rawValue: UInt64

    public init(_ value: UInt64) { rawValue = value }

    /// A new one.
    public init(log: OSLog) { self = .next() }

    /// The one of an object.
    public init(log: OSLog, object: AnyObject) { self = .of(object) }

    /// For intervals of which there is one at a time.
    public static let exclusive = OSSignpostID(0xEEEE_B0B5_B2B2_EEEE)
    public static let invalid = OSSignpostID(.max)
    public static let null = OSSignpostID(0)

    public static func < (lhs: OSSignpostID, rhs: OSSignpostID) -> Bool { lhs.rawValue < rhs.rawValue }

    static func next() -> OSSignpostID { .init(last.wrappingAdd(1, ordering: .relaxed).newValue) }

    static func of(_ object: AnyObject) -> OSSignpostID {
        .init(UInt64(UInt(bitPattern: ObjectIdentifier(object))))
    }
}

private let last = Atomic<UInt64>(0)

/// An interval that has begun.
public struct OSSignpostIntervalState: Sendable {
    public let signpostID: OSSignpostID
    fileprivate let start: ContinuousClock.Instant

    static func beginState(id: OSSignpostID) -> OSSignpostIntervalState {
        .init(signpostID: id, start: .now)
    }
}

/// Writes when intervals begin and end, at the level `trace` of swift-log, with how long they took.
public struct OSSignposter: Sendable {
    private let log: OSLog

    public static var disabled: OSSignposter { .init(logHandle: .disabled) }

    public init() { log = .default }

    public init(subsystem: String, category: String) { log = OSLog(subsystem: subsystem, category: category) }

    public init(subsystem: String, category: OSLog.Category) {
        log = OSLog(subsystem: subsystem, category: category)
    }

    public init(logHandle: OSLog) { log = logHandle }

    public init(logger: Logger) { log = logger.log }

    public var isEnabled: Bool { log.signpostsEnabled }

    public func makeSignpostID() -> OSSignpostID { .next() }

    public func makeSignpostID(from object: AnyObject) -> OSSignpostID { .of(object) }

    public func beginInterval(
        _ name: StaticString, id: OSSignpostID = .exclusive, _ message: @autoclosure () -> OSLogMessage = ""
    ) -> OSSignpostIntervalState {
        write("begin", name, id, message)
        return .beginState(id: id)
    }

    public func beginAnimationInterval(
        _ name: StaticString, id: OSSignpostID = .exclusive, _ message: @autoclosure () -> OSLogMessage = ""
    ) -> OSSignpostIntervalState {
        beginInterval(name, id: id, message())
    }

    public func endInterval(
        _ name: StaticString, _ state: OSSignpostIntervalState, _ message: @autoclosure () -> OSLogMessage = ""
    ) {
        guard isEnabled else { return }
        write("end after \(ContinuousClock.now - state.start)", name, state.signpostID, message)
    }

    public func emitEvent(
        _ name: StaticString, id: OSSignpostID = .exclusive, _ message: @autoclosure () -> OSLogMessage = ""
    ) {
        write("event", name, id, message)
    }

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

/// What a signpost says.
public struct OSSignpostType: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let event = OSSignpostType(rawValue: 0)
    public static let begin = OSSignpostType(rawValue: 1)
    public static let end = OSSignpostType(rawValue: 2)
}

/// Writes that an interval begins or ends, or that something happened.
public func os_signpost(
    _ type: OSSignpostType, dso: UnsafeRawPointer? = nil, log: OSLog, name: StaticString,
    signpostID: OSSignpostID = .exclusive
) {
    log.signpost(type.word, "\(name)", signpostID) { "" }
}

/// Writes that an interval begins or ends, or that something happened, with a format and its arguments.
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
