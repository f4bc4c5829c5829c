import BluetoothAdapter
import BluetoothHost
import BluetoothUsers
import DBus
import Synchronization

/// Carries the events of all users from the adapter's thread to the bus's thread.
final class EventInbox: AdapterObserver {
    private struct State {
        var batches: [EventBatch] = []
        /// The octets of values on each link that the bus's thread has not seen.
        var windows: [LinkIdentifier: ReceiveWindow] = [:]
        /// The sightings in `batches`.
        var sightings = 0
    }

    /// The maximum number of sightings that wait. More are dropped, because newer ones follow.
    private static let sightingLimit = 8192

    private let runner: AdapterRunner
    private let state = Mutex(State())
    /// Signalled when there is something to take.
    let wakeup: Wakeup

    init(_ runner: AdapterRunner) throws(BusFailure) {
        self.runner = runner
        wakeup = try Wakeup()
    }

    func receive(_ batch: borrowing EventBatch) {
        let batch = copy batch
        let isFirst = state.withLock { state in
            if !batch.sightings.isEmpty, state.sightings >= Self.sightingLimit, batch.events.allSatisfy(\.isSighting) {
                return false
            }
            state.sightings += batch.sightings.count
            count(batch, &state)
            state.batches.append(batch)
            return state.batches.count == 1
        }
        if isFirst { wakeup.signal() }
    }

    /// Counts the values that wait, and holds or ends a link that sends faster than the bus takes them.
    private func count(_ batch: EventBatch, _ state: inout State) {
        for event in batch.events {
            switch event {
            case .value(let link, _, let payload):
                let window = state.windows[link] ?? ReceiveWindow()
                state.windows[link] = window
                let isOverflown = window.add(payload.count, on: link) { runner.post($0, from: batch.user) }
                if isOverflown { runner.post(.disconnect(link, reason: .consumerTooSlow), from: batch.user) }
            case .linkEnded(let link, _): state.windows[link] = nil
            default: continue
            }
        }
    }

    /// Takes the events since the last call, in order.
    func take() -> [EventBatch] {
        wakeup.clear()
        return state.withLock { state in
            let batches = state.batches
            state.batches = []
            state.sightings = 0
            for batch in batches {
                for case .value(let link, _, let payload) in batch.events {
                    state.windows[link]?.remove(payload.count, on: link) { runner.post($0, from: batch.user) }
                }
            }
            return batches
        }
    }
}

extension UserEvent {
    fileprivate var isSighting: Bool { if case .sightings = self { true } else { false } }
}
