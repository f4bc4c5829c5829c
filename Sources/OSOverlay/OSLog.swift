import Foundation
import Logging

/// The level of a message.
public struct OSLogType: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public init(_ rawValue: UInt8) { self.rawValue = rawValue }

    /// `notice` of swift-log.
    public static let `default` = OSLogType(0x00)
    /// `info` of swift-log.
    public static let info = OSLogType(0x01)
    /// `debug` of swift-log.
    public static let debug = OSLogType(0x02)
    /// `error` of swift-log.
    public static let error = OSLogType(0x10)
    /// `critical` of swift-log.
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

/// A place for messages: a subsystem and a category, which together are the label of a logger of swift-log.
///
/// What becomes of a message, and which levels are kept, is for `LoggingSystem.bootstrap` to say.
public final class OSLog: NSObject, Sendable {
    /// A category with a meaning of its own on Apple's platforms; here a name.
    public struct Category: RawRepresentable, Hashable, Sendable {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        public static let pointsOfInterest = Category(rawValue: "PointsOfInterest")
        public static let dynamicTracing = Category(rawValue: "DynamicTracing")
        public static let dynamicStackTracing = Category(rawValue: "DynamicStackTracing")
    }

    /// Where messages go that name no other place. Its label is the program's name.
    public static let `default` = OSLog(label: ProcessInfo.processInfo.processName)

    /// Drops messages.
    public static let disabled = OSLog(label: nil)

    /// nil where messages are dropped.
    let logger: Logging.Logger?

    private init(label: String?) { logger = label.map { Logging.Logger(label: $0) } }

    /// - Parameters:
    ///   - subsystem: such as `com.example.app`.
    ///   - category: a part of it, such as `bluetooth`. The label is `com.example.app.bluetooth`.
    public convenience init(subsystem: String, category: String) {
        let label = [subsystem, category].filter { !$0.isEmpty }.joined(separator: ".")
        self.init(label: label.isEmpty ? ProcessInfo.processInfo.processName : label)
    }

    public convenience init(subsystem: String, category: Category) {
        self.init(subsystem: subsystem, category: category.rawValue)
    }

    /// Whether a message of this level would be kept.
    public func isEnabled(type: OSLogType) -> Bool { isEnabled(type.level) }

    /// Whether signposts are kept. They are messages of the level `trace`.
    public var signpostsEnabled: Bool { isEnabled(.trace) }

    private func isEnabled(_ level: Logging.Logger.Level) -> Bool {
        logger.map { $0.logLevel <= level } ?? false
    }

    /// Hands a message on. It is not put together where it would not be kept.
    func log(
        _ level: Logging.Logger.Level, _ message: () -> String, file: String, function: String, line: UInt
    ) {
        guard let logger, isEnabled(level) else { return }
        logger.log(level: level, "\(message())", file: file, function: function, line: line)
    }
}
