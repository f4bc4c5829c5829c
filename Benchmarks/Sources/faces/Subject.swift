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

    var name: String { "\(face)-\(kind.rawValue)" + (scans > 1 ? "-\(scans)" : "") }

    var title: String {
        switch (kind, face) {
        case (.notification, .async): "notification, `AsyncSequence`"
        case (.notification, .delegate): "notification, `didUpdateValueFor`"
        case (.write, _): "write without response, \(face)"
        case (.notify, .async): "`notify`"
        case (.notify, .delegate): "`updateValue`"
        case (.notifySingly, .async): "`notify`, 8 buffers, reported singly"
        case (.notifySingly, .delegate): "`updateValue`, 8 buffers, reported singly"
        case (.read, _): "read, round trip, \(face)"
        case (.report, .async): scans > 1 ? "report to \(scans) sequences" : "report, `AsyncSequence`"
        case (.report, .delegate): scans > 1 ? "report to \(scans) managers" : "report, `didDiscover`"
        case (.channelWrite, .async): "1,024 octets written to `L2CAPChannel`"
        case (.channelWrite, .delegate): "1,024 octets written to `CBL2CAPChannel.outputStream`"
        case (.channelRead, .async): "1,024 octets read from `L2CAPChannel`"
        case (.channelRead, .delegate): "1,024 octets read from `CBL2CAPChannel.inputStream`"
        }
    }

    /// The options of the peer. All scans must have begun before the first report, which the peer delays by a time in
    /// milliseconds.
    private var peerOptions: String { kind.peerOptions + (scans > 1 ? " --delay 2000" : "") }

    /// A tab-separated line for `Benchmarks/faces`: name, face, kind, the peer's work and its options, number of
    /// counted operations, number of timed operations, title.
    var row: String {
        [name, "\(face)", kind.rawValue, kind.peerWork, peerOptions, "\(kind.counted)", "\(kind.timed)", title]
            .joined(separator: "\t")
    }
}

extension Workload.Kind {
    /// The numbers of scans with which the operation is measured.
    fileprivate var scans: [Int] { self == .report ? [1, 20] : [1] }

    /// The name of the peer's part of the work.
    var peerWork: String { self == .notifySingly ? Self.notify.rawValue : rawValue }

    /// The buffers of the peer's controller, and the packets that one of its events reports as completed. The peer
    /// sends more K-frames at once than by default, so that it is twice as fast as the host.
    fileprivate var peerOptions: String {
        let controller = self == .notifySingly ? "--buffers 8 --completed 1" : "--buffers 16 --completed 4"
        return self == .channelRead ? controller + " --burst 64" : controller
    }

    /// The number of operations by which the second run under Valgrind exceeds the first.
    var counted: Int {
        switch self {
        case .notification, .write, .notify, .notifySingly, .read, .channelWrite, .channelRead: 2000
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
        case .write, .notify, .notifySingly: 20000
        case .read: 5000
        case .report: 16000
        case .channelWrite, .channelRead: 20000
        }
    }
}
