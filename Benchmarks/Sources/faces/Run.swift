/// What one run of a host has taken, and its peer.
struct Run {
    enum Host: String {
        case faces
        case bumble
        /// The C loop.
        case bare
    }

    let host: Host
    private let fields: [String: Double]

    /// - Parameter line: the host, and what it and its peer print: words of a name, an equals sign and a number.
    init?(_ line: String) {
        let words = line.split(separator: " ")
        guard let host = words.first.flatMap({ Host(rawValue: String($0)) }) else { return nil }
        self.host = host
        let pairs = words.dropFirst().map { $0.split(separator: "=") }.filter { $0.count == 2 }
        fields = Dictionary(pairs.map { (String($0[0]), Double($0[1]) ?? 0) }) { $1 }
    }

    subscript(name: String) -> Double { fields[name] ?? 0 }

    /// What one operation takes of something.
    func each(_ name: String) -> Double { self[name] / max(1, self["operations"]) }

    /// Operations a second.
    var rate: Double { self["operations"] / max(1e-9, self["seconds"]) }
}

extension [Run] {
    /// The run of a host in which an operation took least of something.
    func best(_ host: Run.Host, by measure: String = "seconds") -> Run? {
        filter { $0.host == host }.min { $0.each(measure) < $1.each(measure) }
    }

    /// A row of the table of what the peer can do: the rate of the C loop, how many operations a second the peer would be
    /// capable of, and how busy it was at the most with the programs that are measured.
    func peerRow(_ kind: Workload.Kind) -> String? {
        guard let bare = best(.bare) else { return nil }
        let busy = filter { $0.host != .bare }.map { $0["busy"] }.max() ?? 0
        return "| \(kind) | \(decimal(bare.rate, 0)) | \(decimal(bare["capable"], 0)) | \(decimal(busy, 0)) % |"
    }
}
