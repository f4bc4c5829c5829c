import AdapterTestSupport
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
        try await prefix(count: count) { _ in true }
    }

    /// The next `count` elements of a kind.
    func prefix(
        count: Int, where isMeant: (Element) -> Bool
    ) async throws(BluetoothError) -> [Element] {
        var elements: [Element] = []
        var iterator = makeAsyncIterator()
        while elements.count < count, let element = try await iterator.next() {
            if isMeant(element) { elements.append(element) }
        }
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

/// What happens to an adapter but for the names of peers, which become known at some point or not at all.
extension EventSequence<AdapterEvent> {
    func first() async throws(BluetoothError) -> AdapterEvent? { try await prefix(count: 1).first }

    func prefix(count: Int) async throws(BluetoothError) -> [AdapterEvent] {
        try await prefix(count: count) { if case .nameChanged = $0 { false } else { true } }
    }
}

/// Lets others go on until something is so, or the time limit of the test has passed.
func until(_ condition: () async throws -> Bool, sourceLocation: SourceLocation = #_sourceLocation) async rethrows {
    var round = 0
    while try await !condition() {
        guard !Task.isCancelled else {
            Issue.record("never happened", sourceLocation: sourceLocation)
            return
        }
        await giveWay(round)
        round += 1
    }
}

/// What several tasks have seen, in the order in which they did.
final class Record<Element: Sendable>: Sendable {
    private let entries = Mutex<[Element]>([])

    var all: [Element] { entries.withLock { $0 } }

    func add(_ element: Element) { entries.withLock { $0.append(element) } }
}

extension Adapter {
    /// How many calls are suspended in this adapter.
    var pendingCount: Int { get async { router.calls.suspendedCount } }

    /// How many scans there are.
    var scanCount: Int { router.calls.scanCount }
}

extension AdvertisementData {
    init(name: String? = nil, services: [BluetoothUUID] = []) {
        self.init()
        localName = name.map { .complete($0) }
        serviceUUIDs = services
    }
}
