import BluetoothAdapter
import BluetoothGATT
import BluetoothHost
import BluetoothUsers
import Synchronization

/// The suspended calls, scans and session operations that wait for the adapter, by token.
///
/// An entry is removed before it is resumed, so each is resumed exactly once.
final class PendingCalls: Sendable {
    // Unsafe, because the compiler does not know the size of a checked one, and would copy the entries by their
    // metadata. Each is resumed once, since its entry is removed first.
    typealias Waiter = UnsafeContinuation<Result<CallResult, BluetoothError>, Never>

    enum Entry {
        /// The task is about to be suspended.
        case beginning(Publication?)
        /// The task was cancelled before it was suspended, or before its call was posted.
        case cancelled
        case suspended(Waiter, Publication?)
        case scan(AsyncQueue<Sighting>)
        case session(AsyncQueue<ClientEvent>, tag: Int)
    }

    /// The queues for the events of services that are being published, by characteristic.
    struct Publication {
        let queues: [AsyncQueue<CharacteristicEvent>]
        let takesCommands: [Bool]
        let unconditional: [GATTClientConfiguration]
        let isShared: Bool
    }

    private struct Slot {
        var entry: Entry?
        /// Whether the call of a suspended task has been posted. Not part of the entry, which would have to be copied.
        var isPosted = false
    }

    private struct State {
        var tokens = CallSlots()
        var slots: [Slot] = []
        /// The reason why calls can no longer wait.
        var closure: BluetoothError?

        /// The index of a token's entry; nil if it has been removed.
        func index(of token: CallToken) -> Int? { tokens.slot(of: token) }

        mutating func remove(at index: Int) -> Entry? {
            tokens.remove(index)
            return slots[index].entry.take()
        }
    }

    private let state = Mutex(State())

    /// The number of suspended calls.
    var suspendedCount: Int {
        state.withLock { state in
            state.slots.count { if case .suspended = $0.entry { true } else { false } }
        }
    }

    /// The number of scans.
    var scanCount: Int {
        state.withLock { state in
            state.slots.count { if case .scan = $0.entry { true } else { false } }
        }
    }

    /// Adds an entry. Returns nil after the end of the adapter.
    // Made in place, because copying an entry costs more than adding it.
    func insert(_ entry: @autoclosure () -> Entry) -> CallToken? {
        state.withLock { state in
            guard state.closure == nil else { return nil }
            let (index, token) = state.tokens.add()
            if index == state.slots.count { state.slots.append(Slot()) }
            state.slots[index].entry = entry()
            state.slots[index].isPosted = false
            return token
        }
    }

    /// Records that the task of a call is suspended. Returns an error if the task must not be suspended.
    func suspend(_ waiter: Waiter, _ token: CallToken) -> BluetoothError? {
        state.withLock { state in
            guard let index = state.index(of: token) else { return state.closure ?? .cancelled }
            guard case .beginning(let publication) = state.slots[index].entry else {
                _ = state.remove(at: index)
                return .cancelled
            }
            state.slots[index].entry = .suspended(waiter, publication)
            return nil
        }
    }

    /// Records that the call has been posted. Returns true if it was cancelled in the meantime, in which case the
    /// caller must post the cancellation.
    func posted(_ token: CallToken) -> Bool {
        state.withLock { state in
            guard let index = state.index(of: token) else { return false }
            switch state.slots[index].entry {
            case .suspended:
                state.slots[index].isPosted = true
                return false
            case .cancelled:
                _ = state.remove(at: index)
                return true
            case .beginning, .scan, .session, nil: return false
            }
        }
    }

    /// Cancels a call whose task was cancelled.
    ///
    /// - Returns: the continuation to resume, and whether the call was posted and must be cancelled.
    func cancel(_ token: CallToken) -> (waiter: Waiter, isPosted: Bool)? {
        state.withLock { state in
            guard let index = state.index(of: token) else { return nil }
            switch state.slots[index].entry {
            case .beginning: state.slots[index].entry = .cancelled
            case .suspended(let waiter, _):
                guard state.slots[index].isPosted else {
                    state.slots[index].entry = .cancelled
                    return (waiter, false)
                }
                _ = state.remove(at: index)
                return (waiter, true)
            case .cancelled, .scan, .session, nil: break
            }
            return nil
        }
    }

    /// Removes the entry of a token. Returns nil if it has already been removed.
    func take(_ token: CallToken) -> Entry? {
        state.withLock { state in
            guard let index = state.index(of: token) else { return nil }
            if case .cancelled = state.slots[index].entry { return nil }
            return state.remove(at: index)
        }
    }

    /// The queue for the sightings of a scan.
    func sightings(of token: CallToken) -> AsyncQueue<Sighting>? {
        state.withLock { state in
            guard let index = state.index(of: token), case .scan(let queue) = state.slots[index].entry else {
                return nil
            }
            return queue
        }
    }

    /// Removes all entries, and accepts no more.
    func close(_ error: BluetoothError) -> [Entry] {
        state.withLock { state in
            guard state.closure == nil else { return [] }
            state.closure = error
            return state.tokens.inOrder.compactMap { state.remove(at: $0) }
        }
    }

    /// The reason why calls can no longer wait.
    var closure: BluetoothError? { state.withLock { $0.closure } }
}
