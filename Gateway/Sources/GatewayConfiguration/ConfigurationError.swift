import GatewayPipeline

/// A problem in a configuration, with its location.
public struct ConfigurationError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The member, as a path from the top: `broker.tls.key`, `filter.allow[2]`. Empty for the file as a whole.
    public var path: String
    /// The line in the file; nil if the problem does not belong to a line.
    public var line: Int?
    /// The explanation: usually the value that was expected.
    public var reason: String

    /// Creates an error. If `path` is empty, it concerns the file as a whole.
    public init(path: String, line: Int? = nil, reason: String) {
        self.path = path
        self.line = line
        self.reason = reason
    }

    /// The line, the path and the reason, such as `line 3, broker.url: …`. Unknown parts are left out.
    public var description: String {
        let place = [line.map { "line \($0)" }, path.isEmpty ? nil : path.shown].compactMap { $0 }.joined(
            separator: ", ")
        return place.isEmpty ? reason : "\(place): \(reason)"
    }
}
