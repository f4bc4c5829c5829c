import BluetoothHost
import Synchronization
import Testing
import VirtualRadio

@testable import BluetoothLE

extension EventSequence {
    func first() async throws(BluetoothError) -> Element? {
        var iterator = makeAsyncIterator()
        return try await iterator.next()
    }

    /// The next `count` elements.
    func prefix(count: Int) async throws(BluetoothError) -> [Element] {
        var elements: [Element] = []
        var iterator = makeAsyncIterator()
        while elements.count < count, let element = try await iterator.next() { elements.append(element) }
        return elements
    }

    /// How the sequence ends once everything before that has been taken; nil in good order.
    func end() async -> BluetoothError? {
        var iterator = makeAsyncIterator()
        do throws(BluetoothError) {
            while try await iterator.next() != nil {}
            return nil
        } catch {
            return error
        }
    }
}

/// Lets other tasks go on until something is so.
func until(_ condition: () async throws -> Bool) async rethrows {
    while try await !condition() { await Task.yield() }
}

extension Adapter {
    /// How many calls are suspended in this adapter.
    var pendingCount: Int { waiters.count }

    /// Does something to the adapter between its turns.
    func with<Value: Sendable>(_ body: (isolated Adapter) -> Value) -> Value { body(self) }
}

extension VirtualRadio {
    /// Lets time pass until `body` is done, where it does not pass by itself.
    func passing<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard time == .manual else { return try await body() }
        let isDone = Atomic(false)
        async let value = {
            defer { isDone.store(true, ordering: .relaxed) }
            return try await body()
        }()
        while !isDone.load(ordering: .relaxed) { await advance(by: .milliseconds(20)) }
        return try await value
    }
}

extension AdvertisementData {
    init(name: String? = nil, services: [BluetoothUUID] = []) {
        self.init()
        localName = name.map { .complete($0) }
        serviceUUIDs = services
    }
}
