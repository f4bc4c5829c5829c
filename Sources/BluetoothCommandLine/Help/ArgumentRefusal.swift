import Synchronization

/// Why the text of an argument was refused.
///
/// The argument parser asks a type for a value or nil, which leaves no room for a reason. So `init?(argument:)` leaves the
/// reason here, and the program adds it to the parser's message.
public enum ArgumentRefusal {
    /// How many are kept. A program stops at the first; tests parse several command lines at once.
    private static let limit = 1024
    /// The newest last.
    private static let refusals = Mutex<[(text: String, reason: String)]>([])

    /// Notes why `text` is no value.
    ///
    /// - Parameter reason: what is accepted instead, to stand behind a colon.
    public static func note(_ text: String, _ reason: String) {
        refusals.withLock { refusals in
            refusals.removeAll { $0.text == text && $0.reason == reason }
            if refusals.count == limit { refusals.removeFirst() }
            refusals.append((text, reason))
        }
    }

    /// The reason for the refusal that a message of the parser reports; nil if it has none, or says so itself.
    static func reason(behind message: String) -> String? {
        refusals.withLock { refusals in
            refusals.last { message.contains("The value '\($0.text)' is invalid") }?.reason
        }
    }
}
