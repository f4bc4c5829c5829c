import Foundation
import QuartzCore

/// Times.
struct Stopwatch {
    private let start = DispatchTime.now()
    private var last: CFTimeInterval = CACurrentMediaTime()

    mutating func lap() -> CFTimeInterval {
        defer { last = CACurrentMediaTime() }
        return CACurrentMediaTime() - last as CFTimeInterval
    }

    var isSlow: Bool {
        if case .nanoseconds(let elapsed) = start.distance(to: .now()) { return elapsed > 1_000_000 }
        return start.advanced(by: .seconds(1)) < .now()
    }
}
