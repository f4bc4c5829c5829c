import BluetoothLE
import Synchronization

/// The time limits for a device's answers. An operation may consist of a single request or, like a discovery, of many.
///
/// A lost answer ends the attempt early enough for further attempts. On a slow link, the limit allows for the round
/// trips that a discovery needs. After two limits that were too short, the next attempt gets all the remaining time.
final class AnswerLimits: Sendable {
    /// The minimum limit, whatever time remains.
    static let shortest = Duration.seconds(4)
    /// The number of round trips that an operation with many requests may take.
    private static let roundTripCount = 64
    /// The number of limits that may be exceeded before an attempt gets all the remaining time.
    private static let shortCount = 2

    private let exceededCount = Atomic(0)

    /// Records that a limit was exceeded.
    func exceeded() { exceededCount.add(1, ordering: .relaxed) }

    /// The limit for an operation that starts now: a third of the remaining time, or all of it after two limits were
    /// exceeded. On a slow link it is longer, up to the remaining time. It is not shorter than `shortest`, unless the
    /// timeout is.
    ///
    /// - Parameters:
    ///   - left: the remaining time for all attempts.
    ///   - timeout: the time limit for all attempts.
    ///   - roundTrip: the time that a request and its response take on the link; zero if no link is involved.
    func limit(left: Duration, of timeout: Duration, roundTrip: Duration) -> Duration {
        let share = exceededCount.load(ordering: .relaxed) < Self.shortCount ? left / 3 : left
        let slow = min(left, roundTrip * Self.roundTripCount)
        return max(share, slow, min(timeout, Self.shortest))
    }

    /// The time that a request and its response take on a link, if the device makes full use of its latency.
    static func roundTrip(interval: Duration, latency: UInt16) -> Duration { interval * (2 + Int(latency)) }
}
