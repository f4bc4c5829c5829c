import Foundation

extension Timer {
    /// Creates a timer that passes itself, with a value in `userInfo`, to a closure.
    ///
    /// Foundation's timers with closures have no `userInfo`. `adapt` uses this function for timers with selectors.
    public static func timer(
        timeInterval: TimeInterval, userInfo: Any?, repeats: Bool, block: @escaping @Sendable (Timer) -> Void
    ) -> Timer {
        // With a date, because on Linux Foundation's timers without one fire for the first time at once.
        let timer = UserInfoTimer(
            fire: Date(timeIntervalSinceNow: timeInterval), interval: timeInterval, repeats: repeats, block: block)
        timer.value = userInfo
        return timer
    }

    /// Creates such a timer, and schedules it on the current run loop.
    @discardableResult
    public static func scheduledTimer(
        timeInterval: TimeInterval, userInfo: Any?, repeats: Bool, block: @escaping @Sendable (Timer) -> Void
    ) -> Timer {
        let timer = timer(timeInterval: timeInterval, userInfo: userInfo, repeats: repeats, block: block)
        RunLoop.current.add(timer, forMode: .default)
        return timer
    }
}

private final class UserInfoTimer: Timer {
    var value: Any?

    override var userInfo: Any? { value }
}
