/// A subject of the benchmark: a workload through one of the two APIs.
struct Subject: Hashable {
    enum Face: String, CaseIterable {
        case async
        case delegate
    }

    let face: Face
    let kind: Workload.Kind
    /// The number of scans that receive the reports: managers, or sequences.
    var scans = 1

    static let all = Workload.Kind.allCases.flatMap { kind in
        kind.scans.flatMap { scans in Face.allCases.map { Subject(face: $0, kind: kind, scans: scans) } }
    }

    var name: String { "\(face)-\(kind)" + (scans > 1 ? "-\(scans)" : "") }

    var title: String {
        switch (kind, face) {
        case (.notification, .async): "notification, `AsyncSequence`"
        case (.notification, .delegate): "notification, `didUpdateValueFor`"
        case (.write, _): "write without response, \(face)"
        case (.notify, .async): "`notify`"
        case (.notify, .delegate): "`updateValue`"
        case (.read, _): "read, round trip, \(face)"
        case (.report, .async): scans > 1 ? "report to \(scans) sequences" : "report, `AsyncSequence`"
        case (.report, .delegate): scans > 1 ? "report to \(scans) managers" : "report, `didDiscover`"
        }
    }

    /// How long the peer waits before the first report, in milliseconds. All scans must have begun by then.
    private var delay: Int { scans > 1 ? 2000 : 0 }

    /// A tab-separated line for `Benchmarks/faces`: name, face, kind, number of counted operations, number of timed
    /// operations, delay, title.
    var row: String {
        [name, "\(face)", "\(kind)", "\(kind.counted)", "\(kind.timed)", "\(delay)", title].joined(separator: "\t")
    }
}

extension Workload.Kind {
    /// The numbers of scans with which the operation is measured.
    fileprivate var scans: [Int] { self == .report ? [1, 20] : [1] }

    /// The number of operations by which the second run under Valgrind exceeds the first.
    var counted: Int {
        switch self {
        case .notification, .write, .notify, .read: 2000
        case .report: 1000
        }
    }

    /// The measure that decides which of several runs is the best. Advertising reports arrive at a fixed rate, so their
    /// elapsed time says nothing.
    var measure: String { self == .report ? "cpu" : "seconds" }

    /// The number of operations in a timed run.
    var timed: Int {
        switch self {
        case .notification: 40000
        case .write, .notify: 20000
        case .read: 5000
        case .report: 16000
        }
    }
}
