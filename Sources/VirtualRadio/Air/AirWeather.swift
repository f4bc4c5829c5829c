import BluetoothBase

/// Signals that fade on an air, drawn from a seed: now and then two controllers do not hear each other for a while, mostly
/// too short for their link to be lost, sometimes longer than any supervision timeout.
///
/// There is no clock: `fire` is due at `nextDeadline`, and the same seed and times give the same weather.
public struct AirWeather: Sendable {
    /// Two controllers that do not hear each other.
    public struct Fade: Equatable, Sendable {
        public var first: ControllerID
        public var second: ControllerID
        public var duration: Duration
    }

    /// The time between the beginnings of two fades.
    public var pause: ClosedRange<Duration> = .milliseconds(200)...(.seconds(20))
    /// How long a fade is.
    public var fade: ClosedRange<Duration> = .milliseconds(10)...(.milliseconds(500))
    /// How long it is where it is a silence.
    public var silence: ClosedRange<Duration> = .seconds(1)...(.seconds(30))
    /// One fade in how many is a silence.
    public var silenceInterval = 10

    private struct Outage {
        var end: Instant
        var fade: Fade
        /// The path loss of before, in each direction.
        var there: Int
        var back: Int
    }

    private var generator: SeededGenerator
    private var next: Instant
    private var outages: [Outage] = []

    /// Nobody hears anybody beyond that many decibels.
    private static let deaf = 200

    public init(seed: UInt64, at now: Instant) {
        generator = SeededGenerator(seed: seed)
        next = now
        next = now.advanced(by: generator.duration(in: pause))
    }

    /// When to call `fire` next.
    public var nextDeadline: Instant { outages.reduce(next) { min($0, $1.end) } }

    /// Ends the fades that are over, and begins one if it is time.
    ///
    /// - Returns: the fade that begins.
    public mutating func fire(at now: Instant, on air: inout Air) -> Fade? {
        outages.removeAll { outage in
            guard outage.end <= now else { return false }
            let (first, second) = (outage.fade.first, outage.fade.second)
            air.setPathLoss(from: first, to: second, to: outage.there, at: now)
            air.setPathLoss(from: second, to: first, to: outage.back, at: now)
            return true
        }
        guard next <= now else { return nil }
        next = now.advanced(by: generator.duration(in: pause))
        return begin(at: now, on: &air)
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
        // One at a time for each two, so that there are no more than there are pairs.
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
