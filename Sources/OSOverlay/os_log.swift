// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The functions that predate `Logger`, under their original names. Apple's versions determine the source location of a
// call automatically; swift-log needs it as arguments.

import Logging

/// Writes a message with a format and its arguments, as in
/// `os_log("%{public}@ is gone", log: log, type: .error, name)`. Numbers are shown. All other values are private
/// unless the format specifies `public`.
public func os_log(
    _ message: StaticString, dso: UnsafeRawPointer? = nil, log: OSLog = .default, type: OSLogType = .default,
    _ args: Any?..., file: String = #fileID, function: String = #function, line: UInt = #line
) {
    log.log(type.level, { FormatString.text("\(message)", args) }, file: file, function: function, line: line)
}

/// Writes a message with a format and its arguments.
public func os_log(
    _ type: OSLogType, dso: UnsafeRawPointer? = nil, log: OSLog = .default, _ message: StaticString, _ args: Any?...,
    file: String = #fileID, function: String = #function, line: UInt = #line
) {
    log.log(type.level, { FormatString.text("\(message)", args) }, file: file, function: function, line: line)
}

/// Writes a message at the level `default`.
@_disfavoredOverload
public func os_log(
    _ message: @autoclosure () -> OSLogMessage, file: String = #fileID, function: String = #function,
    line: UInt = #line
) {
    OSLog.default.log(.notice, { message().text }, file: file, function: function, line: line)
}

/// Writes a message.
@_disfavoredOverload
public func os_log(
    _ logLevel: OSLogType = .default, log: OSLog = .default, _ message: @autoclosure () -> OSLogMessage,
    file: String = #fileID, function: String = #function, line: UInt = #line
) {
    log.log(logLevel.level, { message().text }, file: file, function: function, line: line)
}
