import Foundation

/// What a row of operations takes, from the first one to the last: time, processor time, and how often a thread of this
/// process gave way to another.
struct Flow {
    private let start = Moment()

    /// Prints what the operations took since the flow began, for `Benchmarks/faces` to read.
    func end(operations: Int, lost: Int = 0) {
        let end = Moment()
        print(
            "operations=\(operations) seconds=\(end.time - start.time) cpu=\(end.processorTime - start.processorTime)",
            "switches=\(end.contextSwitches - start.contextSwitches) lost=\(lost)")
    }

    /// Times are in seconds.
    private struct Moment {
        let time: Double
        let processorTime: Double
        let contextSwitches: Int

        init() {
            var usage = rusage()
            getrusage(RUSAGE_SELF.rawValue, &usage)
            processorTime = [usage.ru_utime, usage.ru_stime].map { Double($0.tv_sec) + Double($0.tv_usec) / 1e6 }
                .reduce(0, +)
            // Only those by which a thread waits for something: the others are the work of whatever else runs.
            contextSwitches = usage.ru_nvcsw
            time = Double(DispatchTime.now().uptimeNanoseconds) / 1e9
        }
    }
}

/// How many notifications have come in. Each begins with its number, least significant octet first, so that gaps are noticed.
struct Values {
    /// How many there are in all, and how many the peer sends before it waits for the next write.
    let count: Int, round: Int
    private(set) var received = 0
    /// The number that the next one ought to have.
    private(set) var next = 0

    var isComplete: Bool { next == count }
    /// Whether the peer waits for a write.
    var isRoundComplete: Bool { next % round == 0 && !isComplete }
    var lost: Int { count - received }

    init(count: Int, round: Int) {
        self.count = count
        self.round = round
    }

    mutating func receive(_ bytes: some ContiguousBytes) {
        let number = bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
        received += 1
        next = Int(UInt32(littleEndian: number)) + 1
    }
}
