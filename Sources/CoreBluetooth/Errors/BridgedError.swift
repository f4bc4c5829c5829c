import Foundation

/// An error that is also an `NSError`, like the errors of Apple's frameworks.
///
/// Foundation on Linux casts a Swift error to `NSError`, or back, only if the type implements the bridging;
/// `CustomNSError` alone is not enough.
protocol BridgedError: CustomNSError, CustomStringConvertible, CustomDebugStringConvertible, _ObjectiveCBridgeable
where _ObjectiveCType == NSError {
    init(number: Int, userInfo: [String: Any])
}

extension BridgedError {
    /// The error as an `NSError` with the same domain, code and user info. `error as NSError` calls this.
    public func _bridgeToObjectiveC() -> NSError {
        DescribedError(domain: Self.errorDomain, code: errorCode, userInfo: errorUserInfo)
    }

    /// As on Apple's platforms: `Error Domain=CBATTErrorDomain Code=6 "…" UserInfo={NSLocalizedDescription=…}`.
    public var description: String { text(of: Self.errorDomain, errorCode, errorUserInfo) }
    /// The same text as `description`.
    public var debugDescription: String { description }

    /// Sets `result` to the error that `source` represents; nil if `source` has another domain.
    public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout Self?) {
        _ = _conditionallyBridgeFromObjectiveC(source, result: &result)
    }

    /// Sets `result` to the error that `source` represents. Returns false and sets nil if `source` has another domain.
    public static func _conditionallyBridgeFromObjectiveC(_ source: NSError, result: inout Self?) -> Bool {
        guard source.domain == errorDomain else {
            result = nil
            return false
        }
        result = Self(number: source.code, userInfo: source.userInfo)
        return true
    }

    /// Returns the error that `source` represents, without checking its domain. For nil, the code is 0.
    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> Self {
        Self(number: source?.code ?? 0, userInfo: source?.userInfo ?? [:])
    }
}

/// The error as an object, which delegates receive on Apple's platforms. `error as NSError` then yields this object.
/// From a value, Foundation on Linux would create another object, whose description lacks the text.
func told(_ error: (any Error)?) -> (any Error)? { (error as? any BridgedError)?._bridgeToObjectiveC() ?? error }

/// Prints the text of the error, where Foundation on Linux prints `(null)`.
private final class DescribedError: NSError, @unchecked Sendable {
    // Unchecked, like its superclass; it adds no stored properties.
    override var description: String { text(of: domain, code, userInfo) }
    override var debugDescription: String { description }
}

private func text(of domain: String, _ code: Int, _ userInfo: [String: Any]) -> String {
    let text = userInfo[NSLocalizedDescriptionKey].map { "\($0)" } ?? "(null)"
    let others = userInfo.filter { $0.key != NSLocalizedDescriptionKey }.sorted { $0.key < $1.key }
    let all = [(NSLocalizedDescriptionKey, text as Any)] + others.map { ($0.key, $0.value) }
    let list = all.map { "\($0.0)=\($0.1)" }.joined(separator: ", ")
    return "Error Domain=\(domain) Code=\(code) \"\(text)\" UserInfo={\(list)}"
}

/// The user info of an error. It never changes, and consists of property list types.
struct Information: @unchecked Sendable {
    let values: [String: Any]

    init(_ values: [String: Any]) { self.values = values }

    /// The description that the error was created with, if any.
    var description: String? { values[NSLocalizedDescriptionKey] as? String }

    func described(as text: String) -> [String: Any] {
        values.merging([NSLocalizedDescriptionKey: text]) { own, _ in own }
    }
}
