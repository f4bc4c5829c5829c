import GatewayPipeline

/// What is wrong with a configuration, and where.
public struct ConfigurationError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The member, as a path from the top: `broker.tls.key`, `filter.allow[2]`. Empty for the file as a whole.
    public var path: String
    /// The line in the file; nil if it is of no line.
    public var line: Int?
    /// What was expected.
    public var reason: String

    public init(path: String, line: Int? = nil, reason: String) {
        self.path = path
        self.line = line
        self.reason = reason
    }

    public var description: String {
        let place = [line.map { "line \($0)" }, path.isEmpty ? nil : path.shown].compactMap { $0 }.joined(
            separator: ", ")
        return place.isEmpty ? reason : "\(place): \(reason)"
    }
}
