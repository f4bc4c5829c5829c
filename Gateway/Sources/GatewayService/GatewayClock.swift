import BluetoothLE
import Foundation
import GatewayPipeline

/// The clocks that a gateway goes by, handed in so that tests have their own.
public struct GatewayClock: Sendable {
    /// The monotonic time.
    public var instant: @Sendable () -> Instant
    /// The time of day.
    public var wall: @Sendable () -> WallTime

    public init(instant: @escaping @Sendable () -> Instant, wall: @escaping @Sendable () -> WallTime) {
        self.instant = instant
        self.wall = wall
    }

    /// The system's.
    public static let system: GatewayClock = {
        let start = ContinuousClock.now
        return GatewayClock(
            instant: { Instant(nanoseconds: UInt64(max(0, start.duration(to: .now) / .nanoseconds(1)))) },
            wall: { WallTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)) })
    }()
}
