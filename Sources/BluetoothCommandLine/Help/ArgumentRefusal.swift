import Synchronization

/// The reason why the text of an argument was refused.
///
/// The argument parser asks a type for a value or nil, without a reason. So `init?(argument:)` records the reason here,
/// and the program adds it to the parser's message.
public enum ArgumentRefusal {
    /// The maximum number of reasons. A program stops at the first one, but tests parse several command lines at once.
    private static let limit = 1024
    /// The newest one is last.
    private static let refusals = Mutex<[(text: String, reason: String)]>([])

    /// Records why `text` is not a valid value.
    ///
    /// - Parameter reason: what is accepted instead, worded to follow a colon.
    public static func note(_ text: String, _ reason: String) {
        refusals.withLock { refusals in
            refusals.removeAll { $0.text == text && $0.reason == reason }
            if refusals.count == limit { refusals.removeFirst() }
            refusals.append((text, reason))
        }
    }

    /// The reason for the refusal that a message of the parser reports; nil if none was recorded for it.
    static func reason(behind message: String) -> String? {
        refusals.withLock { refusals in
            refusals.last { message.contains("The value '\($0.text)' is invalid") }?.reason
        }
    }
}
