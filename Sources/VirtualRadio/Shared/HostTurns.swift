import BluetoothBase
import BluetoothHCI
import Synchronization

/// The turns of hosts whose radio's time is manual: one at a time and one after the other, in the order in which they were
/// asked for, so that the same calls always lead to the same packets.
final class HostTurns: Sendable {
    private let waiting = Mutex<[any PacketPortHost]>([])
    private let giving = Mutex(())
    private let given = Atomic<UInt64>(0)

    /// How many turns have been asked for so far, by packets and by calls.
    var requests: UInt64 { given.load(ordering: .relaxed) }

    /// Gives a host a turn: on this thread, or on the one that is giving turns already.
    func request(_ host: any PacketPortHost) {
        given.wrappingAdd(1, ordering: .relaxed)
        waiting.withLock { waiting in
            if !waiting.contains(where: { $0 === host }) { waiting.append(host) }
        }
        // Whoever gives turns may just have seen that nobody waits.
        while hasWaiting {
            let isOurs: Void? = giving.withLockIfAvailable { _ in giveWaiting() }
            if isOurs == nil { return }
        }
    }

    /// Gives turns to those who wait, then one to each of these hosts. Returns when the first of these next has something to
    /// do by itself, which holds as long as no further turn is asked for.
    func give(_ hosts: [any PacketPortHost]) -> Instant? {
        giving.withLock { _ in
            giveWaiting()
            var deadline: Instant?
            for host in hosts { deadline = earliest(deadline, host.takeTurn()) }
            return deadline
        }
    }

    private var hasWaiting: Bool { waiting.withLock { !$0.isEmpty } }

    private func giveWaiting() {
        while let host = waiting.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { _ = host.takeTurn() }
    }
}
