import CoreBluetooth
import Synchronization
import Testing

/// What a delegate was told, as lines in the order in which it was told them, and a way to wait for them.
final class Recorder: @unchecked Sendable {
    // Unchecked: everything is behind the lock, and the objects it hands out are for the test alone.
    private let lock = NSLock()
    private var lines: [String] = []
    private var taken = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// Whether each line came on this queue.
    let queue: DispatchQueue
    private let key = DispatchSpecificKey<Bool>()
    private(set) var strays: [String] = []

    init(_ label: String = "test") {
        queue = DispatchQueue(label: label)
        queue.setSpecific(key: key, value: true)
    }

    func add(_ line: String) {
        let resumed = lock.withLock {
            if DispatchQueue.getSpecific(key: key) != true { strays.append(line) }
            lines.append(line)
            defer { waiting = [] }
            return waiting
        }
        for continuation in resumed { continuation.resume() }
    }

    /// All lines so far.
    var all: [String] { lock.withLock { lines } }

    /// The next line that has not been taken; empty once the time limit of the test has passed.
    func next() async -> String {
        while !Task.isCancelled {
            let line = lock.withLock { () -> String? in
                guard taken < lines.count else { return nil }
                taken += 1
                return lines[taken - 1]
            }
            if let line { return line }
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let isThere = lock.withLock {
                        guard taken == lines.count, !Task.isCancelled else { return true }
                        waiting.append(continuation)
                        return false
                    }
                    if isThere { continuation.resume() }
                }
            } onCancel: {
                wakeAll()
            }
        }
        return ""
    }

    private func wakeAll() {
        let resumed = lock.withLock {
            defer { waiting = [] }
            return waiting
        }
        for continuation in resumed { continuation.resume() }
    }

    /// Expects these lines next, in this order.
    func expect(_ expected: String..., sourceLocation: SourceLocation = #_sourceLocation) async {
        for line in expected {
            let next = await next()
            #expect(next == line, sourceLocation: sourceLocation)
        }
    }

    /// Takes lines until one begins so, and returns that.
    @discardableResult
    func skip(to prefix: String, sourceLocation: SourceLocation = #_sourceLocation) async -> String {
        while true {
            let line = await next()
            guard !Task.isCancelled else {
                Issue.record("waited for \(prefix); was told: \(all.suffix(10))", sourceLocation: sourceLocation)
                return ""
            }
            if line.hasPrefix(prefix) { return line }
        }
    }

    /// Runs something on the queue, behind everything that was delivered before.
    func onQueue<Value>(_ body: @escaping () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: body()) }
        }
    }
}

extension Optional where Wrapped == any Error {
    /// `-`, or the domain and the code.
    var line: String {
        guard let self else { return "-" }
        let error = self as NSError
        return "\(error.domain == CBATTErrorDomain ? "ATT" : "CB") \(error.code)"
    }
}
