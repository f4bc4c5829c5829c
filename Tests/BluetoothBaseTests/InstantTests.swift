import BluetoothBase
import Testing

@Suite("Instants")
struct InstantTests {
    @Test(
        "advancing saturates at the limits of the type",
        arguments: [
            (100, .nanoseconds(50), 150), (100, .nanoseconds(-50), 50), (100, .nanoseconds(-100), 0),
            (100, .nanoseconds(-101), 0), (0, .seconds(30), 30_000_000_000), (UInt64.max - 1, .nanoseconds(1), .max),
            (UInt64.max, .nanoseconds(1), .max), (100, .seconds(Int64.min), 0), (5, .zero, 5),
            (5, .nanoseconds(Int64.min), 0),
        ] as [(UInt64, Duration, UInt64)])
    func advancing(_ start: UInt64, _ duration: Duration, _ end: UInt64) {
        #expect(Instant(nanoseconds: start).advanced(by: duration) == Instant(nanoseconds: end))
    }

    @Test(
        "the difference between two instants is signed",
        arguments: [
            (100, 150, .nanoseconds(50)), (150, 100, .nanoseconds(-50)), (7, 7, .zero),
            (0, UInt64.max, .nanoseconds(Int64.max)), (UInt64.max, 0, .nanoseconds(-Int64.max)),
        ] as [(UInt64, UInt64, Duration)])
    func duration(_ start: UInt64, _ end: UInt64, _ duration: Duration) {
        #expect(Instant(nanoseconds: start).duration(to: Instant(nanoseconds: end)) == duration)
    }

    @Test(
        "a duration is truncated to nanoseconds, and clamped",
        arguments: [
            (.seconds(2), 2_000_000_000), (.microseconds(1250), 1_250_000), (.zero, 0), (.milliseconds(-3), -3_000_000),
            (Duration(secondsComponent: 0, attosecondsComponent: 1_999_999_999), 1), (.seconds(Int64.max), .max),
            (.seconds(Int64.min), .min), (.nanoseconds(Int64.max), .max), (.nanoseconds(Int64.min), .min),
        ] as [(Duration, Int64)])
    func nanoseconds(_ duration: Duration, _ nanoseconds: Int64) {
        #expect(duration.nanoseconds == nanoseconds)
    }

    @Test(
        "earliest returns the earlier of two deadlines, either of which may be nil",
        arguments: [(nil, nil, nil), (1, nil, 1), (nil, 2, 2), (1, 2, 1), (2, 1, 1), (3, 3, 3)]
            as [(UInt64?, UInt64?, UInt64?)])
    func earlier(_ first: UInt64?, _ second: UInt64?, _ expected: UInt64?) {
        let deadline = earliest(first.map(Instant.init(nanoseconds:)), second.map(Instant.init(nanoseconds:)))
        #expect(deadline?.nanoseconds == expected)
    }

    @Test("Instants are ordered by time") func theOrderIsThatOfTime() {
        #expect(Instant.zero < Instant(nanoseconds: 1))
        #expect(!(Instant(nanoseconds: 1) < Instant(nanoseconds: 1)))
    }
}
