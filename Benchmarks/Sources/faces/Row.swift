import Foundation

/// A row of the table: the cost of one operation of a subject, and the best of several runs.
struct Row {
    let subject: Subject
    let instructions: Int
    let mallocs: Double
    let best: Run
    let bumble: Run?
    /// Voluntary context switches per operation, from the run with the fewest: other load on the machine can only add
    /// to them.
    let switches: Double
    /// The highest number of values lost in any run.
    let lost: Int
    /// The share of the best run during which the peer was busy, in percent.
    let peerLoad: Double

    init?(_ subject: Subject, instructions: Int, mallocs: Double, runs: [Run]) {
        guard let best = runs.best(.faces, by: subject.kind.measure) else { return nil }
        self.subject = subject
        self.instructions = instructions
        self.mallocs = mallocs
        self.best = best
        bumble = runs.best(.bumble, by: subject.kind.measure)
        let ours = runs.filter { $0.host == .faces }
        switches = ours.map { $0.each("switches") }.min() ?? 0
        lost = Int(ours.map { $0["lost"] }.max() ?? 0)
        peerLoad = best["busy"]
    }

    /// The factor by which this subject outperforms Bumble.
    private var ratio: Double? {
        guard let bumble else { return nil }
        return bumble.each(subject.kind.measure) / best.each(subject.kind.measure)
    }

    /// The row in Markdown. The table header is in `Benchmarks/faces`.
    var text: String {
        let cells = [
            subject.title, decimal(best.rate, 0), decimal(best.each("cpu") * 1e6, 1), "\(instructions)",
            decimal(mallocs, 1), decimal(switches, 2), "\(lost)", bumble.map { decimal($0.rate, 0) } ?? "-",
            bumble.map { decimal($0.each("cpu") * 1e6, 1) } ?? "-", ratio.map { decimal($0, 1) } ?? "-",
            "\(subject.required)", "\(subject.aim)",
        ]
        return "| " + cells.joined(separator: " | ") + " |"
    }

    /// The requirements that are not met.
    var failures: [String] {
        let required = subject.required
        var failures: [String] = []
        if let most = required.instructions, instructions > most {
            failures.append("takes \(instructions) instructions, of \(most) allowed")
        }
        if let most = required.mallocs, mallocs > most + 0.05 {
            failures.append("allocates \(decimal(mallocs, 1)) times, of \(decimal(most, 0)) allowed")
        }
        if let most = required.switches, switches > most {
            failures.append("takes \(decimal(switches, 2)) context switches, of \(decimal(most, 1)) allowed")
        }
        if let least = required.ratio, let ratio, ratio < least {
            failures.append("is \(decimal(ratio, 1)) times as fast as Bumble, not \(decimal(least, 0)) times")
        }
        if lost > 0 { failures.append("has lost \(lost)") }
        if peerLoad > 50 {
            failures.append("has a peer that is busy \(decimal(peerLoad, 0)) % of the time, so it is not twice as fast")
        }
        return failures
    }
}

/// Formats a number with the given number of decimal places.
func decimal(_ value: Double, _ digits: Int) -> String { String(format: "%.\(digits)f", value) }
