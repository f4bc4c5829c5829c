/// What is measured: a workload through one of the two APIs.
struct Subject: Hashable {
    enum Face: String, CaseIterable {
        case async
        case delegate
    }

    let face: Face
    let kind: Workload.Kind

    static let all = Workload.Kind.allCases.flatMap { kind in Face.allCases.map { Subject(face: $0, kind: kind) } }

    var name: String { "\(face)-\(kind)" }

    var title: String {
        switch (kind, face) {
        case (.notification, .async): "notification, `AsyncSequence`"
        case (.notification, .delegate): "notification, `didUpdateValueFor`"
        case (.write, _): "write without response, \(face)"
        case (.notify, .async): "`notify`"
        case (.notify, .delegate): "`updateValue`"
        case (.read, _): "read, round trip, \(face)"
        case (.report, .async): "report, `AsyncSequence`"
        case (.report, .delegate): "report, `didDiscover`"
        }
    }

    /// A line for `Benchmarks/faces`: name, face, kind, how many operations are counted, how many timed, title, with tabs
    /// between them.
    var row: String {
        [name, "\(face)", "\(kind)", "\(kind.counted)", "\(kind.timed)", title].joined(separator: "\t")
    }
}

extension Workload.Kind {
    /// How many operations more the second run under valgrind does than the first.
    var counted: Int {
        switch self {
        case .notification, .write, .notify, .read: 2000
        case .report: 1000
        }
    }

    /// Of several runs the one that took least of this counts: reports come at a given pace.
    var measure: String { self == .report ? "cpu" : "seconds" }

    /// How many operations are done where time counts.
    var timed: Int {
        switch self {
        case .notification: 40000
        case .write, .notify: 20000
        case .read: 5000
        case .report: 16000
        }
    }
}
