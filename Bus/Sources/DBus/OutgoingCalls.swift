import CSystemd

/// The calls of a connection to other programs.
///
/// A bus limits the replies that a connection may wait for, and counts each until the called program has answered or
/// left, however long that takes. A program that never answers would thus use up the calls of all others. Here, each
/// program has a share: further calls to it wait until it answers, or fail if it seems never to answer.
final class OutgoingCalls {
    /// The maximum number of calls to one program that the bus knows of. A system bus allows 128 in total.
    static let share = 32
    /// The maximum number of calls to one program that wait because its share is used up.
    static let waitingLimit = 256

    private var lines: [String: Line] = [:]
    /// The calls that the bus knows of, also those whose answer is not needed any more.
    private var sent: Set<OutgoingCall> = []
    private var failures: [(OutgoingCall, BusError)] = []
    private let bus: OpaquePointer

    /// The calls to one program.
    private struct Line {
        /// The number of calls that the bus knows of, including those whose time is over.
        var count = 0
        /// The number of calls whose time is over.
        var overdueCount = 0
        var waiting: [(call: OutgoingCall, message: Message)] = []
    }

    init(_ bus: OpaquePointer) { self.bus = bus }

    /// Whether `fail` has something to do.
    var hasFailures: Bool { !failures.isEmpty }

    /// Completes the calls that could not be made. They do not complete before `begin` returns.
    func fail() {
        let failures = failures
        self.failures = []
        for (call, error) in failures { call.end(.failure(error)) }
    }

    /// Makes a call, now or when it is the program's turn.
    func begin(_ call: OutgoingCall, _ message: Message) {
        var line = lines[call.destination, default: Line()]
        if line.count < Self.share {
            line.count += 1
            lines[call.destination] = line
            send(call, message)
        } else if line.overdueCount >= Self.share || line.waiting.count >= Self.waitingLimit {
            refuse(call)
        } else {
            lines[call.destination]?.waiting.append((call, message))
        }
    }

    func fail(_ call: OutgoingCall, _ error: BusError) { failures.append((call, error)) }

    private func refuse(_ call: OutgoingCall) {
        fail(call, .limitsExceeded("\(call.destination) does not answer its calls"))
    }

    private func send(_ call: OutgoingCall, _ message: Message) {
        sent.insert(call)
        call.calls = self
        let result = sd_bus_call_async(
            bus, &call.slot, message.pointer,
            { pointer, context, _ in
                guard let pointer, let context else { return 0 }
                let call = Unmanaged<OutgoingCall>.fromOpaque(context).takeUnretainedValue()
                call.calls?.ended(call, Message(pointer))
                return 0
            }, Unmanaged.passUnretained(call).toOpaque(), call.timeout)
        guard result < 0 else { return }
        fail(call, .invalidArgs("\(BusFailure.invalidMessage(errno: -result))"))
        isAnswered(call)
    }

    private func ended(_ call: OutgoingCall, _ reply: Message) {
        let error = reply.error
        if error?.isTimeout == true { isOverdue(call) } else { isAnswered(call) }
        call.end(error.map { .failure($0) } ?? .success(reply))
    }

    private func isAnswered(_ call: OutgoingCall) {
        sent.remove(call)
        lines[call.destination]?.count -= 1
        sendWaiting(call.destination)
    }

    private func sendWaiting(_ destination: String) {
        while var line = lines[destination], line.count < Self.share {
            guard !line.waiting.isEmpty else {
                if line.count == 0 { lines[destination] = nil }
                return
            }
            let (call, message) = line.waiting.removeFirst()
            if call.isNeeded { line.count += 1 }
            lines[destination] = line
            if call.isNeeded { send(call, message) }
        }
    }

    /// The bus still waits for the answer, so the call keeps its place.
    private func isOverdue(_ call: OutgoingCall) {
        sent.remove(call)
        guard var line = lines[call.destination] else { return }
        line.overdueCount += 1
        if line.overdueCount >= Self.share {
            for (call, _) in line.waiting { refuse(call) }
            line.waiting = []
        }
        lines[call.destination] = line
    }

    /// A program has left the bus, which has answered the calls to it.
    func forget(_ destination: String) {
        guard let line = lines.removeValue(forKey: destination) else { return }
        for (call, _) in line.waiting { fail(call, .noReply) }
    }
}

/// A call to another program, until it is answered.
final class OutgoingCall: Hashable {
    let destination: String
    /// In microseconds.
    let timeout: UInt64
    fileprivate var slot: OpaquePointer?
    fileprivate weak var calls: OutgoingCalls?
    private var completion: ((Result<Message, BusError>) -> Void)?

    init(_ destination: String, timeout: UInt64, _ completion: @escaping (Result<Message, BusError>) -> Void) {
        self.destination = destination
        self.timeout = timeout
        self.completion = completion
    }

    deinit { sd_bus_slot_unref(slot) }

    var isNeeded: Bool { completion != nil }

    /// The answer is not needed any more.
    func abandon() { completion = nil }

    fileprivate func end(_ result: Result<Message, BusError>) {
        guard let completion else { return }
        self.completion = nil
        completion(result)
    }

    static func == (one: OutgoingCall, other: OutgoingCall) -> Bool { one === other }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension BusError {
    /// Whether the time for an answer is over, as sd-bus reports it.
    fileprivate var isTimeout: Bool {
        name == "org.freedesktop.DBus.Error.NoReply" || name == "org.freedesktop.DBus.Error.Timeout"
    }
}
