import BluetoothGATT
import BluetoothHost

/// Keeps account of everything that was started on a host, and finds out whether each ends exactly once.
struct Ledger {
    enum Entry: Hashable {
        case attempt(ConnectionAttempt)
        case link(LinkIdentifier)
        case operation(LinkIdentifier, GATTClient.OperationID)
        case request(RequestIdentifier)
    }

    private(set) var open: Set<Entry> = []
    private(set) var endCount = 0
    /// What should not have happened.
    private(set) var faults: [String] = []

    mutating func start(_ entry: Entry) {
        if !open.insert(entry).inserted { faults.append("\(entry) has started twice") }
    }

    private mutating func end(_ entry: Entry) {
        endCount += 1
        if open.remove(entry) == nil { faults.append("\(entry) ended without having started, or twice") }
    }

    mutating func take(_ event: HostEvent) {
        switch event {
        case .link(let link, .connected(let attempt)):
            if let attempt { end(.attempt(attempt)) }
            start(.link(link))
        case .controller(.connectionFailed(let attempt, _)): end(.attempt(attempt))
        case .link(let link, .disconnected):
            let left = open.filter { if case .operation(link, _) = $0 { true } else { false } }
            if !left.isEmpty { faults.append("\(left) outlived \(link)") }
            end(.link(link))
        case .client(let link, .operationEnded(.completed(let operation, _))),
            .client(let link, .operationEnded(.failed(let operation, _))):
            end(.operation(link, operation))
        case .link(let link, let linkEvent):
            if !open.contains(.link(link)) { faults.append("\(event.brief) of \(link), which is not there") }
            switch linkEvent {
            case .rssiRead(let request, _), .transmitPowerRead(let request, _), .requestCompleted(let request),
                .requestFailed(let request, _):
                end(.request(request))
            default: break
            }
        case .client(let link, _), .server(let link, _):
            if !open.contains(.link(link)) { faults.append("\(event.brief) of \(link), which is not there") }
        default: break
        }
    }

    var attempts: [ConnectionAttempt] {
        open.compactMap { if case .attempt(let attempt) = $0 { attempt } else { nil } }
            .sorted { "\($0)" < "\($1)" }
    }

    /// The operations that have not ended, and their links.
    var operations: [(LinkIdentifier, GATTClient.OperationID)] {
        open.compactMap { if case .operation(let link, let operation) = $0 { (link, operation) } else { nil } }
            .sorted { "\($0)" < "\($1)" }
    }
}
