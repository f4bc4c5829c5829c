/// The measurements of one run: those of a host and of its peer.
struct Run {
    enum Host: String {
        case faces
        case bumble
        /// The loop in C that stands in for a host, to measure the peer.
        case bare
    }

    let host: Host
    private let fields: [String: Double]

    /// - Parameter line: the name of the host, followed by the `name=number` fields that the host and its peer print.
    init?(_ line: String) {
        let words = line.split(separator: " ")
        guard let host = words.first.flatMap({ Host(rawValue: String($0)) }) else { return nil }
        self.host = host
        let pairs = words.dropFirst().map { $0.split(separator: "=") }.filter { $0.count == 2 }
        fields = Dictionary(pairs.map { (String($0[0]), Double($0[1]) ?? 0) }) { $1 }
    }

    subscript(name: String) -> Double { fields[name] ?? 0 }

    /// The amount of the named measure per operation.
    func each(_ name: String) -> Double { self[name] / max(1, self["operations"]) }

    /// Operations per second.
    var rate: Double { self["operations"] / max(1e-9, self["seconds"]) }
}

extension [Run] {
    /// The run of a host with the lowest cost per operation.
    func best(_ host: Run.Host, by measure: String = "seconds") -> Run? {
        filter { $0.host == host }.min { $0.each(measure) < $1.each(measure) }
    }

    /// A row of the table of peer capacity: the rate of the C loop, the number of operations per second that the peer
    /// could handle, and its highest load in any of the measured runs.
    func peerRow(_ kind: Workload.Kind) -> String? {
        guard let bare = best(.bare) else { return nil }
        let busy = filter { $0.host != .bare }.map { $0["busy"] }.max() ?? 0
        let cells = [kind.rawValue, decimal(bare.rate, 0), decimal(bare["capable"], 0), "\(decimal(busy, 0)) %"]
        return "| " + cells.joined(separator: " | ") + " |"
    }
}
