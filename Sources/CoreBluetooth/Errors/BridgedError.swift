import Foundation

/// An error that is also an `NSError`, like the errors of Apple's frameworks.
///
/// Foundation on Linux casts a Swift error to `NSError`, or back, only if the type says how; `CustomNSError` alone is
/// not enough.
protocol BridgedError: CustomNSError, _ObjectiveCBridgeable where _ObjectiveCType == NSError {
    init(number: Int, userInfo: [String: Any])
}

extension BridgedError {
    public func _bridgeToObjectiveC() -> NSError {
        NSError(domain: Self.errorDomain, code: errorCode, userInfo: errorUserInfo)
    }

    public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout Self?) {
        _ = _conditionallyBridgeFromObjectiveC(source, result: &result)
    }

    public static func _conditionallyBridgeFromObjectiveC(_ source: NSError, result: inout Self?) -> Bool {
        guard source.domain == errorDomain else {
            result = nil
            return false
        }
        result = Self(number: source.code, userInfo: source.userInfo)
        return true
    }

    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> Self {
        Self(number: source?.code ?? 0, userInfo: source?.userInfo ?? [:])
    }
}

/// The user info of an error. Set once, and made of property list types.
struct Information: @unchecked Sendable {
    let values: [String: Any]

    init(_ values: [String: Any]) { self.values = values }

    /// The text the error was made with, if any.
    var description: String? { values[NSLocalizedDescriptionKey] as? String }

    func described(as text: String) -> [String: Any] {
        values.merging([NSLocalizedDescriptionKey: text]) { own, _ in own }
    }
}
