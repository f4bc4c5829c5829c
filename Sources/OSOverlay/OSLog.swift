import Foundation
import Logging

/// The level of a log message.
public struct OSLogType: RawRepresentable, Hashable, Sendable {
    /// The number of the level, the same as on Apple's platforms.
    public let rawValue: UInt8

    /// Creates a level from its number. A number without a constant is logged like `default`.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Creates a level from its number. A number without a constant is logged like `default`.
    public init(_ rawValue: UInt8) { self.rawValue = rawValue }

    /// The level `notice` of swift-log.
    public static let `default` = OSLogType(0x00)
    /// The level `info` of swift-log.
    public static let info = OSLogType(0x01)
    /// The level `debug` of swift-log.
    public static let debug = OSLogType(0x02)
    /// The level `error` of swift-log.
    public static let error = OSLogType(0x10)
    /// The level `critical` of swift-log.
    public static let fault = OSLogType(0x11)

    var level: Logging.Logger.Level {
        switch self {
        case .info: .info
        case .debug: .debug
        case .error: .error
        case .fault: .critical
        default: .notice
        }
    }
}

/// A destination for log messages, identified by a subsystem and a category. Together they form the label of a
/// swift-log logger.
///
/// `LoggingSystem.bootstrap` determines where messages are written and which levels are kept.
public final class OSLog: NSObject, Sendable {
    /// A category that has a special meaning on Apple's platforms. Here, it is only a name.
    public struct Category: RawRepresentable, Hashable, Sendable {
        /// The name of the category, with which the label of the swift-log logger ends.
        public let rawValue: String

        /// Creates a category from its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The category `PointsOfInterest`, for the signposts that matter most in a recording.
        public static let pointsOfInterest = Category(rawValue: "PointsOfInterest")
        /// The category `DynamicTracing`, whose signposts Apple's tools enable only while recording.
        public static let dynamicTracing = Category(rawValue: "DynamicTracing")
        /// The category `DynamicStackTracing`, for whose signposts Apple's tools also record the call stack.
        public static let dynamicStackTracing = Category(rawValue: "DynamicStackTracing")
    }

    /// The destination of messages that specify no other one. Its label is the program's name.
    public static let `default` = OSLog(label: ProcessInfo.processInfo.processName)

    /// Drops all messages.
    public static let disabled = OSLog(label: nil)

    /// Nil if messages are dropped.
    let logger: Logging.Logger?

    private init(label: String?) { logger = label.map { Logging.Logger(label: $0) } }

    /// Creates a destination for messages.
    ///
    /// - Parameters:
    ///   - subsystem: a name such as `com.example.app`.
    ///   - category: a part of the subsystem, such as `bluetooth`. The label is then `com.example.app.bluetooth`.
    public convenience init(subsystem: String, category: String) {
        let label = [subsystem, category].filter { !$0.isEmpty }.joined(separator: ".")
        self.init(label: label.isEmpty ? ProcessInfo.processInfo.processName : label)
    }

    /// Creates a destination for messages. Its label is `subsystem`, followed by the name of `category`.
    public convenience init(subsystem: String, category: Category) {
        self.init(subsystem: subsystem, category: category.rawValue)
    }

    /// Whether a message of this level would be kept.
    public func isEnabled(type: OSLogType) -> Bool { isEnabled(type.level) }

    /// Whether signposts are kept. They are messages at the level `trace`.
    public var signpostsEnabled: Bool { isEnabled(.trace) }

    private func isEnabled(_ level: Logging.Logger.Level) -> Bool {
        logger.map { $0.logLevel <= level } ?? false
    }

    /// Passes a message to swift-log. The message is not evaluated if it would be dropped.
    func log(
        _ level: Logging.Logger.Level, _ message: () -> String, file: String, function: String, line: UInt
    ) {
        guard let logger, isEnabled(level) else { return }
        logger.log(level: level, "\(message())", file: file, function: function, line: line)
    }
}
