import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost
import BluetoothUsers

/// Requests of peers: whether they are permitted, when they are answered, and whether any waits too long.
final class UserRequests: UserPart {
    let context: UserContext
    private var waiting: [ServerRequest] = []
    /// The arrival time of each request.
    private var times: [ServerRequest: Instant] = [:]
    /// The delay before the user answers; nil if it does not answer.
    private var answerDelay: Duration? = .zero

    init(_ context: UserContext) { self.context = context }

    /// Longer than a host waits for its application's answer.
    private static let longestWait = Duration.seconds(27)

    // MARK: - Turns

    func dawdle(_ pick: inout SeededGenerator) {
        answerDelay = [nil, .zero, .milliseconds(5), .milliseconds(800), .seconds(5)][pick.below(5)]
    }

    func answerLate() { answerDelay = .seconds(3) }

    /// Answers everything, now and from now on.
    func answerAll() {
        answerDelay = .zero
        for request in waiting { post(.accept(request), CallLedger.Call(kind: .dawdle, link: request.link)) }
        removeAll()
    }

    func removeAll() {
        waiting = []
        times = [:]
    }

    // MARK: - Events

    func linkEnded(_ link: LinkIdentifier) { waiting.removeAll { $0.link == link } }

    func answer(_ request: ServerRequest, offset: Int?) {
        if waiting.contains(where: { $0.link == request.link && $0.bearer == request.bearer }) {
            fail(.oneRequest, "a request was reported before the previous request on its bearer was answered")
        }
        guard let answerDelay else {
            keep(request)
            return
        }
        guard answerDelay > .zero else { return answerNow(request, offset) }
        keep(request)
        context.schedule(after: answerDelay) { [self] in
            guard isAttached, waiting.contains(request) else { return }
            forget(request)
            answerNow(request, offset)
        }
    }

    private func answerNow(_ request: ServerRequest, _ offset: Int?) {
        var call = CallLedger.Call(kind: .dawdle, link: request.link)
        call.hasTimeout = true
        if context.draw({ $0.oneIn(12) }) {
            post(.refuse(request, .unlikelyError), call)
        } else if let offset {
            let value = SimulatedValue(.dynamic, station: station, stream: 0, number: 1)
            post(.answer(request, Array(value.bytes(count: 60).dropFirst(offset))), call)
        } else {
            post(.accept(request), call)
        }
    }

    /// Keeps a request that waits for its answer.
    private func keep(_ request: ServerRequest) {
        run.hasDawdled = true
        waiting.append(request)
        times[request] = now
    }

    func forget(_ request: ServerRequest) {
        waiting.removeAll { $0 == request }
        times[request] = nil
    }

    // MARK: - Checks

    /// Checks that a peer accesses only attributes that its link permits.
    func checkAccess(_ handle: AttributeHandle, _ link: LinkIdentifier, isWrite: Bool) {
        if links[link] == nil { fail(.linkEvents, "a request was reported on \(link), which does not exist") }
        guard let characteristic = run.characteristic(of: handle, at: station) else { return }
        let isAllowed =
            switch characteristic {
            case .stored, .dynamic: true
            case .commands, .writeOnly: isWrite
            case .constant: !isWrite
            case .locked: links[link].map { run.isEncrypted(station, $0) } ?? false
            case .stream, .card: false
            }
        if !isAllowed { fail(.permission, "a peer \(isWrite ? "wrote" : "read") \(characteristic)") }
    }

    /// Checks that no request waits longer than allowed.
    func checkWaiting() {
        guard !run.hasFaults(station), !run.isDamaged(station) else { return }
        for request in waiting {
            guard let time = times[request], now > time.advanced(by: Self.longestWait) else { continue }
            fail(.fittingReason, "a request was neither answered nor expired")
        }
    }
}
