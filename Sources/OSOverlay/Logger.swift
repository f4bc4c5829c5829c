import Logging

/// Writes messages, through swift-log.
public struct Logger: Sendable {
    let log: OSLog

    /// Writes to `OSLog.default`.
    public init() { log = .default }

    public init(subsystem: String, category: String) { log = OSLog(subsystem: subsystem, category: category) }

    public init(_ logObj: OSLog) { log = logObj }

    // The place of a call is what swift-log asks for; Apple's methods find it in another way.

    /// Writes a message of the level `default`.
    public func log(
        _ message: @autoclosure () -> OSLogMessage, file: String = #fileID, function: String = #function,
        line: UInt = #line
    ) {
        log(level: .default, message(), file: file, function: function, line: line)
    }

    /// Writes a message.
    public func log(
        level: OSLogType, _ message: @autoclosure () -> OSLogMessage, file: String = #fileID,
        function: String = #function, line: UInt = #line
    ) {
        log.log(level.level, { message().text }, file: file, function: function, line: line)
    }

    /// Writes a message of the level `trace` of swift-log; Apple's `Logger` makes it `debug`.
    public func trace(
        _ message: @autoclosure () -> OSLogMessage, file: String = #fileID, function: String = #function,
        line: UInt = #line
    ) {
        log.log(.trace, { message().text }, file: file, function: function, line: line)
    }

    /// Writes a message of the level `debug`.
    public func debug(
        _ message: @autoclosure () -> OSLogMessage, file: String = #fileID, function: String = #function,
        line: UInt = #line
    ) {
        log(level: .debug, message(), file: file, function: function, line: line)
    }

    /// Writes a message of the level `info`.
    public func info(
        _ message: @autoclosure () -> OSLogMessage, file: String = #fileID, function: String = #function,
        line: UInt = #line
    ) {
        log(level: .info, message(), file: file, function: function, line: line)
    }

    /// Writes a message of the level `default`.
    public func notice(
        _ message: @autoclosure () -> OSLogMessage, file: String = #fileID, function: String = #function,
        line: UInt = #line
    ) {
        log(level: .default, message(), file: file, function: function, line: line)
    }

    /// Writes a message of the level `warning` of swift-log; Apple's `Logger` makes it `error`.
    public func warning(
        _ message: @autoclosure () -> OSLogMessage, file: String = #fileID, function: String = #function,
        line: UInt = #line
    ) {
        log.log(.warning, { message().text }, file: file, function: function, line: line)
    }

    /// Writes a message of the level `error`.
    public func error(
        _ message: @autoclosure () -> OSLogMessage, file: String = #fileID, function: String = #function,
        line: UInt = #line
    ) {
        log(level: .error, message(), file: file, function: function, line: line)
    }

    /// Writes a message of the level `fault`.
    public func critical(
        _ message: @autoclosure () -> OSLogMessage, file: String = #fileID, function: String = #function,
        line: UInt = #line
    ) {
        log(level: .fault, message(), file: file, function: function, line: line)
    }

    /// Writes a message of the level `fault`.
    public func fault(
        _ message: @autoclosure () -> OSLogMessage, file: String = #fileID, function: String = #function,
        line: UInt = #line
    ) {
        log(level: .fault, message(), file: file, function: function, line: line)
    }
}
