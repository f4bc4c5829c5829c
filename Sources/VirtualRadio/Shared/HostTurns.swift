import BluetoothBase
import BluetoothHCI
import BluetoothPlatform
import Synchronization

/// Gives turns to hosts on a radio with manual time. Turns run one at a time, in the order in which they were
/// requested, so the same calls always lead to the same packets.
final class HostTurns: Sendable {
    private let waiting = Mutex<[any PacketPortHost]>([])
    private let giving = Mutex(())
    /// The thread that gives turns; 0 if none does.
    private let giver = Atomic<Int32>(0)
    private let given = Atomic<UInt64>(0)

    /// The number of turns requested so far, by packets and by calls.
    var requests: UInt64 { given.load(ordering: .relaxed) }

    /// Gives a host a turn, on this thread or on the thread that is already giving turns. A host may call this in its
    /// own turn.
    func request(_ host: any PacketPortHost) {
        given.wrappingAdd(1, ordering: .relaxed)
        waiting.withLock { waiting in
            if !waiting.contains(where: { $0 === host }) { waiting.append(host) }
        }
        // The thread that gives turns may have just seen an empty queue.
        while hasWaiting {
            // Swift 6.2's mutex ends the program if the thread that holds it tries to lock it.
            if giver.load(ordering: .relaxed) == CurrentThread.identifier { return }
            let isOurs: Void? = giving.withLockIfAvailable { _ in asGiver { giveWaiting() } }
            if isOurs == nil { return }
        }
    }

    /// Gives turns to the waiting hosts, then one to each of `hosts`. Returns the earliest deadline of those hosts,
    /// which is valid until another turn is requested.
    func give(_ hosts: [any PacketPortHost]) -> Instant? {
        giving.withLock { _ in
            asGiver {
                giveWaiting()
                var deadline: Instant?
                for host in hosts { deadline = earliest(deadline, host.takeTurn()) }
                return deadline
            }
        }
    }

    /// Calls a closure that gives turns, with the lock held.
    private func asGiver<Result>(_ body: () -> Result) -> Result {
        giver.store(CurrentThread.identifier, ordering: .relaxed)
        defer { giver.store(0, ordering: .relaxed) }
        return body()
    }

    private var hasWaiting: Bool { waiting.withLock { !$0.isEmpty } }

    private func giveWaiting() {
        while let host = waiting.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { _ = host.takeTurn() }
    }
}
