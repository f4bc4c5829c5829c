import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost
import BluetoothUsers

/// A user's attempts to connect.
final class UserAttempts: UserPart {
    let context: UserContext
    private let linkCalls: UserLinkCalls
    /// The number of visits left.
    private var visits = 0

    init(_ context: UserContext, linkCalls: UserLinkCalls) {
        self.context = context
        self.linkCalls = linkCalls
    }

    // MARK: - Turns

    func connect(_ pick: inout SeededGenerator) {
        let peer = context.drawPeer(&pick)
        var timeout: Duration? = pick.oneIn(3) ? .milliseconds(200 + pick.below(8_000)) : nil
        // The peer may use another address by now, and no event reports whether the host is still searching for it.
        if timeout == nil, run.scenario.hasPrivateAddresses { timeout = .seconds(4) }
        let delay: Duration = pick.oneIn(6) ? .milliseconds(pick.below(2_000)) : .zero
        post(
            .connect(run.reachableName(of: peer, from: station), ConnectRequest(timeout: timeout, delay: delay)),
            CallLedger.Call(
                kind: .connect, hasTimeout: timeout != nil,
                deadline: timeout.map { now.advanced(by: delay + $0) }))
    }

    /// Connects to another station at its current address.
    func meet(_ pick: inout SeededGenerator) {
        let peer = context.drawPeer(&pick)
        let timeout = Duration.milliseconds(2_500)
        post(
            .connect(run.reachableName(of: peer, from: station), ConnectRequest(timeout: timeout)),
            CallLedger.Call(kind: .connect, hasTimeout: true, deadline: now.advanced(by: timeout)))
    }

    func connectToNext(timeout: Duration? = nil) {
        post(
            .connect(PeerID(run.address(of: context.nextStation)), ConnectRequest(timeout: timeout)),
            CallLedger.Call(
                kind: .connect, hasTimeout: timeout != nil, deadline: timeout.map { now.advanced(by: $0) }))
    }

    // MARK: - Visits

    /// Connects to the next station and disconnects, repeatedly.
    func visit() {
        visits = 10
        connectToNext()
    }

    /// A visitor disconnects as soon as the link is established ...
    func linkBegan(_ link: UserLink) {
        guard visits > 0, link.information.role == .central else { return }
        linkCalls.disconnect(link)
    }

    /// ... and connects again.
    func linkEnded() {
        guard visits > 0, isAttached, context.status == .ready, !context.isCalm else { return }
        visits -= 1
        if visits > 0 { connectToNext() }
    }

    // MARK: - The end

    /// Whether a connection attempt may wait for its peer indefinitely.
    func mayGoOn(_ call: CallLedger.Call) -> Bool {
        call.kind == .connect && call.deadline == nil && run.scenario.devices[station].isSingleMinded != true
    }

    /// Whether the user waits for a connection without a time limit.
    var isWaiting: Bool { calls.hasOpen { mayGoOn($0) && !$0.isCancelled } }
}
