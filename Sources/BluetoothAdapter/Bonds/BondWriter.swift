import BluetoothBase
import HCITransport
import Synchronization

/// Writes bond changes in order, on a separate thread: a disk may take seconds, and another program may hold the store.
///
/// The thread exists only while there are changes to write.
final class BondWriter: Sendable {
    private struct State {
        var queue = BondWriteQueue()
        var isWriting = false
    }

    private let store: any BondStore
    private let state = Mutex(State())
    /// Called on the writer's thread when results are available.
    private let whenDone: @Sendable () -> Void

    init(_ store: any BondStore, whenDone: @escaping @Sendable () -> Void) {
        self.store = store
        self.whenDone = whenDone
    }

    /// Adds a change and returns immediately.
    func append(_ write: BondWrite) {
        let begins = state.withLock { state in
            guard state.queue.append(write), !state.isWriting else { return false }
            state.isWriting = true
            return true
        }
        guard begins else { return }
        do throws(TransportError) {
            try startThread { [self] in run() }
        } catch {
            fail()
        }
    }

    /// The outcomes of changes since the last call, in the order in which the changes were added.
    func takeResults() -> [BondWriteResult] { state.withLock { $0.queue.takeResults() } }

    /// See `BondWriteQueue.takeSettled`.
    func takeSettled() -> [SettledBond] { state.withLock { $0.queue.takeSettled() } }

    /// Whether everything is written.
    var isIdle: Bool { state.withLock { $0.queue.isIdle } }

    /// See `BondWriteQueue.abandon`.
    func abandon() -> Int { state.withLock { $0.queue.abandon() } }

    private func run() {
        while let write = next() {
            var failure: BondStoreError?
            do throws(BondStoreError) { try write.perform(on: store) } catch { failure = error }
            state.withLock { [failure] in $0.queue.ended(write, failure) }
            whenDone()
        }
    }

    /// The next change; nil if none is waiting, in which case the thread ends.
    private func next() -> BondWrite? {
        state.withLock { state in
            let write = state.queue.next()
            if write == nil { state.isWriting = false }
            return write
        }
    }

    /// Fails all waiting changes, because no thread could be created.
    private func fail() {
        state.withLock { state in
            while let write = state.queue.next() { state.queue.ended(write, .noThread) }
            state.isWriting = false
        }
        whenDone()
    }
}
