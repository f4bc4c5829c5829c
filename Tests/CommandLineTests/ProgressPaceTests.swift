import Testing

@testable import CommandLineSupport

/// How often progress is shown.
struct ProgressPaceTests {
    @Test(
        "A line at most once in the interval, none at the beginning",
        arguments: [
            ([0, 1, 500, 999], [Int]()),
            ([1000], [1000]),
            ([999, 1000, 1001, 1999, 2000], [1000, 2000]),
            ([1500, 2400, 2500], [1500, 2500]),
            ([60_000, 60_001, 61_000], [60_000, 61_000]),
        ])
    func pace(updates: [Int], shown: [Int]) {
        let start = ContinuousClock.now
        var pace = ProgressPace(interval: .seconds(1), start: start)
        #expect(updates.filter { pace.isDue(at: start + .milliseconds($0)) } == shown)
    }
}
