/// A row of the table of notifications that arrive one at a time.
struct Pace {
    let face: Subject.Face
    /// Values a second.
    let rate: Int
    let instructions: Int
    let mallocs: Double
    let runs: [Run]

    /// The maximum cost of one value: instructions, context switches, and processor time as a multiple of the C loop's.
    static func required(_ face: Subject.Face) -> (instructions: Int, switches: Double, ratio: Double) {
        switch face {
        case .async: (7000, 2.1, 1.5)
        case .delegate: (8000, 2.1, 1.5)
        }
    }

    static func aim(_ face: Subject.Face) -> Int {
        switch face {
        case .async: 4000
        case .delegate: 5000
        }
    }

    /// The row in Markdown, and the requirements that are not met; nil without runs.
    var row: (text: String, failures: [String])? {
        guard let ours = runs.best(.faces, by: "cpu"), let bare = runs.best(.bare, by: "cpu") else { return nil }
        let bumble = runs.best(.bumble, by: "cpu")
        let required = Self.required(face)
        let ratio = ours.each("cpu") / bare.each("cpu")
        let switches = runs.filter { $0.host == .faces }.map { $0.each("switches") }.min() ?? 0
        let cells = [
            "\(face)", "\(rate)", decimal(ours.each("cpu") * 1e6, 1), decimal(ratio, 2),
            bumble.map { decimal($0.each("cpu") / ours.each("cpu"), 1) } ?? "-", decimal(switches, 2),
            decimal(ours["median"], 0), decimal(ours["late"], 0), decimal(ours["lost"], 0), "\(instructions)",
            decimal(mallocs, 1),
            "≤ \(required.instructions) instructions, ≤ \(required.switches) switches, ≤ \(required.ratio) × C loop",
            "≤ \(Self.aim(face)) instructions",
        ]
        var failures: [String] = []
        if instructions > required.instructions {
            failures.append("takes \(instructions) instructions, of \(required.instructions) allowed")
        }
        if switches > required.switches {
            failures.append("takes \(decimal(switches, 2)) context switches, of \(required.switches) allowed")
        }
        if ours["lost"] > 0 { failures.append("has lost \(decimal(ours["lost"], 0))") }
        return ("| " + cells.joined(separator: " | ") + " |", failures)
    }

    /// The rows of the C loop and of Bumble.
    static func others(_ rate: Int, _ runs: [Run]) -> [String] {
        [(Run.Host.bare, "C loop"), (.bumble, "Bumble")].compactMap { host, name in
            guard let run = runs.best(host, by: "cpu") else { return nil }
            let cells = [
                name, "\(rate)", decimal(run.each("cpu") * 1e6, 1), "", "", decimal(run.each("switches"), 2),
                decimal(run["median"], 0), decimal(run["late"], 0), decimal(run["lost"], 0), "", "", "", "",
            ]
            return "| " + cells.joined(separator: " | ") + " |"
        }
    }
}
