import BluetoothLE
import Foundation
import GatewayPipeline

/// The clocks of a gateway, which are passed in so that tests can supply their own.
public struct GatewayClock: Sendable {
    /// The monotonic time.
    public var instant: @Sendable () -> Instant
    /// The time of day.
    public var wall: @Sendable () -> WallTime

    /// Creates a pair of clocks from functions that return the current time.
    public init(instant: @escaping @Sendable () -> Instant, wall: @escaping @Sendable () -> WallTime) {
        self.instant = instant
        self.wall = wall
    }

    /// The clocks of the system.
    public static let system: GatewayClock = {
        let start = ContinuousClock.now
        return GatewayClock(
            instant: { Instant(nanoseconds: UInt64(max(0, start.duration(to: .now) / .nanoseconds(1)))) },
            wall: { WallTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)) })
    }()
}
