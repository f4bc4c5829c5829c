import BluetoothLE
import Synchronization

/// How long a device may take for what it is asked, which may be one request or many, as in a discovery.
///
/// An answer that was lost ends the attempt early enough for others. On a slow link there is time for as many round trips as a discovery
/// needs. After two attempts that were too short, another one has all the time that is left.
final class AnswerLimits: Sendable {
    /// An answer is waited for no shorter than this, whatever time is left.
    static let shortest = Duration.seconds(4)
    /// How many round trips something with many requests may take.
    private static let roundTripCount = 64
    /// How many limits may be exceeded before one attempt gets all the time that is left.
    private static let shortCount = 2

    private let exceededCount = Atomic(0)

    /// A limit was exceeded.
    func exceeded() { exceededCount.add(1, ordering: .relaxed) }

    /// The limit for something that begins now: a third of the time that is left, or all of it after two limits were exceeded. It is
    /// longer on a link that is too slow for that, but no longer than the time that is left.
    ///
    /// - Parameters:
    ///   - left: the time that is left for all attempts.
    ///   - timeout: the time that there was at the beginning.
    ///   - roundTrip: how long the link takes for a request and its answer; zero where no link is involved.
    func limit(left: Duration, of timeout: Duration, roundTrip: Duration) -> Duration {
        let share = exceededCount.load(ordering: .relaxed) < Self.shortCount ? left / 3 : left
        let slow = min(left, roundTrip * Self.roundTripCount)
        return max(share, slow, min(timeout, Self.shortest))
    }

    /// How long a request and its answer take on a link, if the device skips as many connection events as it may.
    static func roundTrip(interval: Duration, latency: UInt16) -> Duration { interval * (2 + Int(latency)) }
}
