import Synchronization

/// Why the text of an argument was refused.
///
/// The argument parser asks a type for a value or nil, which leaves no room for a reason. So `init?(argument:)` leaves the
/// reason here, and the program adds it to the parser's message.
public enum ArgumentRefusal {
    private static let last = Mutex<(text: String, reason: String)?>(nil)

    /// Notes why `text` is no value.
    ///
    /// - Parameter reason: what is accepted instead, to stand behind a colon.
    public static func note(_ text: String, _ reason: String) {
        last.withLock { $0 = (text, reason) }
    }

    /// The reason for the refusal that a message of the parser reports; nil if it has none, or says so itself.
    static func reason(behind message: String) -> String? {
        guard let (text, reason) = last.withLock({ $0 }), message.contains("The value '\(text)' is invalid") else {
            return nil
        }
        return reason
    }
}
