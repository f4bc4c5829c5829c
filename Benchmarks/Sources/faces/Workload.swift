import Foundation

/// The operation that a benchmarked program repeats, and the number of repetitions.
struct Workload {
    enum Kind: String, CaseIterable {
        /// Receives notifications.
        case notification
        /// Writes without response.
        case write
        /// Notifies a subscriber.
        case notify
        /// Notifies a subscriber, with a controller that has few buffers and reports each packet on its own.
        case notifySingly = "notify-singly"
        /// Reads, each time after the response to the previous read.
        case read
        /// Receives advertising reports.
        case report
        /// Writes blocks of octets to a channel.
        case channelWrite = "channel-write"
        /// Reads blocks of octets from a channel.
        case channelRead = "channel-read"
    }

    let kind: Kind
    let count: Int
    /// The number of scans that receive the reports.
    let scans: Int
    /// The number of notifications that the peer sends before it waits for the next write.
    let round: Int
    /// Whether to measure how long each notification takes to arrive.
    let isTimed: Bool

    /// The value that is sent.
    static let value = [UInt8](0..<20)
    /// A block of the octets that are written to a channel. Each is its position in the stream modulo 256.
    static let block = (0..<1024).map { UInt8(truncatingIfNeeded: $0) }
    /// The peer's service over channels.
    static let psm: UInt16 = 0x80
}

func warn(_ problem: String) {
    FileHandle.standardError.write(Data("faces: \(problem)\n".utf8))
}

/// Exits the program with a message, because its measurements would be meaningless.
func fail(_ reason: String) -> Never {
    warn(reason)
    exit(1)
}
