import Foundation

/// What a program under test does, so many times.
struct Workload {
    enum Kind: String, CaseIterable {
        /// Takes notifications.
        case notification
        /// Writes without response.
        case write
        /// Notifies a subscriber.
        case notify
        /// Reads, each time after the answer to the last.
        case read
        /// Takes advertising reports.
        case report
    }

    let kind: Kind
    let count: Int
    /// How many notifications the peer sends before it waits for the next write.
    let round: Int

    /// The value that is sent.
    static let value = [UInt8](0..<20)
}

func warn(_ problem: String) {
    FileHandle.standardError.write(Data("faces: \(problem)\n".utf8))
}

/// Ends the program, since it would measure something else.
func fail(_ reason: String) -> Never {
    warn(reason)
    exit(1)
}
