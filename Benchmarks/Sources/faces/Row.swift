import Foundation

/// A row of the table: what one operation of a subject costs, and several runs, of which the best counts.
struct Row {
    let subject: Subject
    let instructions: Int
    let mallocs: Double
    let best: Run
    let bumble: Run?
    /// Context switches of one operation. Whatever else the machine does only adds to them, so it is the run with the fewest
    /// that counts.
    let switches: Double
    /// The most that any run has lost.
    let lost: Int
    /// How much of the time the peer was busy during the best run, in percent.
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

    /// How many times better than Bumble this is.
    private var ratio: Double? {
        guard let bumble else { return nil }
        return bumble.each(subject.kind.measure) / best.each(subject.kind.measure)
    }

    /// The row in Markdown; the head of the table is in `Benchmarks/faces`.
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

/// A number with so many digits behind the point.
func decimal(_ value: Double, _ digits: Int) -> String { String(format: "%.\(digits)f", value) }
