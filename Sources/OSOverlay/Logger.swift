import Logging

/// Writes log messages through swift-log.
public struct Logger: Sendable {
    let log: OSLog

    /// Writes to `OSLog.default`.
    public init() { log = .default }

    /// Creates a logger whose swift-log label is `subsystem.category`. An empty part is omitted.
    public init(subsystem: String, category: String) { log = OSLog(subsystem: subsystem, category: category) }

    /// Creates a logger that writes to `logObj`.
    public init(_ logObj: OSLog) { log = logObj }

    // swift-log needs the source location of each call. Apple's methods obtain it without these parameters.

    /// Writes a message at the level `default`.
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

    /// Writes a message at the level `trace` of swift-log. Apple's `Logger` uses `debug` instead.
    public func trace(
        _ message: @autoclosure () -> OSLogMessage, file: String = #fileID, function: String = #function,
        line: UInt = #line
    ) {
        log.log(.trace, { message().text }, file: file, function: function, line: line)
    }

    /// Writes a message at the level `debug`.
    public func debug(
        _ message: @autoclosure () -> OSLogMessage, file: String = #fileID, function: String = #function,
        line: UInt = #line
    ) {
        log(level: .debug, message(), file: file, function: function, line: line)
    }

    /// Writes a message at the level `info`.
    public func info(
        _ message: @autoclosure () -> OSLogMessage, file: String = #fileID, function: String = #function,
        line: UInt = #line
    ) {
        log(level: .info, message(), file: file, function: function, line: line)
    }

    /// Writes a message at the level `default`.
    public func notice(
        _ message: @autoclosure () -> OSLogMessage, file: String = #fileID, function: String = #function,
        line: UInt = #line
    ) {
        log(level: .default, message(), file: file, function: function, line: line)
    }

    /// Writes a message at the level `warning` of swift-log. Apple's `Logger` uses `error` instead.
    public func warning(
        _ message: @autoclosure () -> OSLogMessage, file: String = #fileID, function: String = #function,
        line: UInt = #line
    ) {
        log.log(.warning, { message().text }, file: file, function: function, line: line)
    }

    /// Writes a message at the level `error`.
    public func error(
        _ message: @autoclosure () -> OSLogMessage, file: String = #fileID, function: String = #function,
        line: UInt = #line
    ) {
        log(level: .error, message(), file: file, function: function, line: line)
    }

    /// Writes a message at the level `fault`.
    public func critical(
        _ message: @autoclosure () -> OSLogMessage, file: String = #fileID, function: String = #function,
        line: UInt = #line
    ) {
        log(level: .fault, message(), file: file, function: function, line: line)
    }

    /// Writes a message at the level `fault`.
    public func fault(
        _ message: @autoclosure () -> OSLogMessage, file: String = #fileID, function: String = #function,
        line: UInt = #line
    ) {
        log(level: .fault, message(), file: file, function: function, line: line)
    }
}
