import Foundation

/// The cost of a series of operations, from the first to the last: elapsed time, processor time, and the number of
/// context switches in this process.
struct Flow {
    private let start = Moment()

    /// Prints the cost since the flow began, in the format that `Benchmarks/faces` reads.
    func end(operations: Int, lost: Int = 0, _ latencies: Latencies? = nil) {
        let end = Moment()
        print(
            "operations=\(operations) seconds=\(end.time - start.time) cpu=\(end.processorTime - start.processorTime)",
            "switches=\(end.contextSwitches - start.contextSwitches) lost=\(lost)",
            latencies.map { "median=\($0.quantile(0.5)) late=\($0.quantile(0.99))" } ?? "")
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
            // Only voluntary switches count, in which a thread waits for something. Involuntary ones are caused by
            // other load on the machine.
            contextSwitches = usage.ru_nvcsw
            time = Double(DispatchTime.now().uptimeNanoseconds) / 1e9
        }
    }
}

/// The notifications received so far. Each value starts with its sequence number, least significant octet first, so
/// that gaps can be detected.
struct Values {
    /// The total number of values, and the number that the peer sends before it waits for the next write.
    let count: Int, round: Int
    private(set) var received = 0
    /// The sequence number expected next.
    private(set) var next = 0

    var isComplete: Bool { next == count }
    /// Whether the peer is waiting for a write.
    var isRoundComplete: Bool { next % round == 0 && !isComplete }
    var lost: Int { count - received }
    /// The times from the peer's write to this application; nil if they are not measured.
    private(set) var latencies: Latencies?

    init(_ work: Workload) {
        count = work.count
        round = work.round
        latencies = work.isTimed ? Latencies(count: work.count) : nil
    }

    mutating func receive(_ bytes: some ContiguousBytes) {
        let number = bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
        received += 1
        next = Int(UInt32(littleEndian: number)) + 1
        if latencies != nil {
            let sent = bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self) }
            latencies?.add(sent: UInt64(littleEndian: sent))
        }
    }
}

/// The octets received over a channel so far, in blocks.
struct Blocks {
    let count: Int
    private var octets = 0

    init(count: Int) { self.count = count }

    var received: Int { octets / Workload.block.count }
    var isComplete: Bool { octets == count * Workload.block.count }

    mutating func receive(_ part: some Collection<UInt8>) {
        if let first = part.first, Int(first) != octets % 256 { fail("received other octets than were expected") }
        octets += part.count
    }
}

/// The times that values took.
struct Latencies {
    /// In nanoseconds.
    private var times: [UInt64] = []

    init(count: Int) { times.reserveCapacity(count) }

    /// - Parameter sent: when the value was sent, in nanoseconds of the monotonic clock.
    mutating func add(sent: UInt64) {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        let now = UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
        times.append(now > sent ? now - sent : 0)
    }

    /// The time within which this share of the values arrived, in microseconds.
    func quantile(_ share: Double) -> Double {
        let sorted = times.sorted()
        guard !sorted.isEmpty else { return 0 }
        return Double(sorted[min(sorted.count - 1, Int(share * Double(sorted.count)))]) / 1000
    }
}
