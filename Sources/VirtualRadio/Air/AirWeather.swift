import BluetoothBase

/// Fading signals on an air, drawn from a seed. From time to time two controllers stop receiving each other. Most fades
/// are too short for a link to be lost; some last longer than a supervision timeout.
///
/// There is no clock: the caller calls `fire` at `nextDeadline`, and the same seed and times produce the same fades.
public struct AirWeather: Sendable {
    /// A period during which two controllers do not receive each other.
    public struct Fade: Equatable, Sendable {
        /// The controller that was added to the air before the other.
        public var first: ControllerID
        /// The controller that was added to the air after the other.
        public var second: ControllerID
        /// The duration of the fade, drawn from the range `fade` or `silence`.
        public var duration: Duration
    }

    /// The time between the starts of two fades.
    public var pause: ClosedRange<Duration> = .milliseconds(200)...(.seconds(20))
    /// The duration of an ordinary fade.
    public var fade: ClosedRange<Duration> = .milliseconds(10)...(.milliseconds(500))
    /// The duration of a silence: a fade that may outlast the supervision timeout.
    public var silence: ClosedRange<Duration> = .seconds(1)...(.seconds(30))
    /// One in this many fades is a silence.
    public var silenceInterval = 10

    private struct Outage {
        var end: Instant
        var fade: Fade
        /// The path loss before the fade, in each direction.
        var there: Int
        var back: Int
    }

    private var generator: SeededGenerator
    private var next: Instant
    private var outages: [Outage] = []

    /// A path loss, in decibels, at which no controller receives another. No other caller sets this one, so a fade that
    /// ends does not undo a path loss that was set in the meantime.
    private static let deaf = 999

    /// Creates weather in which no signal has faded yet. The pause before the first fade is drawn from the default
    /// range of `pause`.
    public init(seed: UInt64, at now: Instant) {
        generator = SeededGenerator(seed: seed)
        next = now
        next = now.advanced(by: generator.duration(in: pause))
    }

    /// The instant at which to call `fire` next.
    public var nextDeadline: Instant { outages.reduce(next) { min($0, $1.end) } }

    /// Ends the fades that are over, and starts a new one if it is due.
    ///
    /// - Returns: the fade that starts, if any.
    public mutating func fire(at now: Instant, on air: inout Air) -> Fade? {
        outages.removeAll { outage in
            guard outage.end <= now else { return false }
            Self.end(outage, at: now, on: &air)
            return true
        }
        guard next <= now else { return nil }
        next = now.advanced(by: generator.duration(in: pause))
        return begin(at: now, on: &air)
    }

    /// Ends all fades. Call this before the weather is abandoned.
    public mutating func clear(at now: Instant, on air: inout Air) {
        for outage in outages { Self.end(outage, at: now, on: &air) }
        outages = []
    }

    private static func end(_ outage: Outage, at now: Instant, on air: inout Air) {
        let (first, second) = (outage.fade.first, outage.fade.second)
        for (from, to, loss) in [(first, second, outage.there), (second, first, outage.back)]
        where air.pathLoss(from: from, to: to) == deaf {
            air.setPathLoss(from: from, to: to, to: loss, at: now)
        }
    }

    private mutating func begin(at now: Instant, on air: inout Air) -> Fade? {
        let count = air.controllers.count
        guard count > 1 else { return nil }
        let index = generator.number(below: count)
        let other = (index + 1 + generator.number(below: count - 1)) % count
        let isSilence = generator.number(below: silenceInterval) == 0
        let fade = Fade(
            first: ControllerID(index: min(index, other)), second: ControllerID(index: max(index, other)),
            duration: generator.duration(in: isSilence ? silence : self.fade))
        // At most one fade for each pair of controllers, so their number is bounded.
        guard !outages.contains(where: { $0.fade.first == fade.first && $0.fade.second == fade.second }) else {
            return nil
        }
        outages.append(
            Outage(
                end: now.advanced(by: fade.duration), fade: fade,
                there: air.pathLoss(from: fade.first, to: fade.second),
                back: air.pathLoss(from: fade.second, to: fade.first)))
        air.setPathLoss(between: fade.first, and: fade.second, to: Self.deaf, at: now)
        return fade
    }
}
