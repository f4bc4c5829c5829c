import BluetoothAdapter
import BluetoothHost
import BluetoothUsers

/// One user of the adapter: the daemon itself, or a client of the bus. Detaching it ends everything it requested.
final class SeamUser {
    typealias Completion = (Result<CallResult, HostError>) -> Void

    let id: UserID
    private let runner: AdapterRunner
    private var pending: [CallToken: Completion] = [:]
    private var isAttached = true

    init(_ runner: AdapterRunner, _ inbox: EventInbox) {
        self.runner = runner
        id = runner.attach(inbox)
    }

    deinit { detach() }

    /// Makes a call without a result.
    func post(_ kind: HostCall.Kind) { runner.post(kind, from: id) }

    /// Makes a call.
    ///
    /// - Parameter completion: receives the result, unless the user is detached or the call is forgotten before.
    /// - Returns: the token, with which the call or the activity that it began can be cancelled.
    @discardableResult
    func call(_ kind: HostCall.Kind, keepsOrder: Bool = true, _ completion: @escaping Completion) -> CallToken {
        let token = runner.makeToken()
        pending[token] = completion
        if !runner.post(kind, token: token, from: id, keepsOrder: keepsOrder) {
            end(token, .failure(.adapterRemoved))
        }
        return token
    }

    /// Cancels a call or an activity. A call ends with `.cancelled`.
    func cancel(_ token: CallToken) { runner.post(.cancel, token: token, from: id) }

    /// Cancels a call or an activity, whose result is not needed any more.
    func forget(_ token: CallToken) {
        pending[token] = nil
        cancel(token)
    }

    /// Calls back after the calls made before have been carried out, or have at least begun.
    func barrier(_ completion: @escaping () -> Void) {
        // Only the daemon's own user is the pairing agent, so for others this has no effect.
        call(.setPairingAgent(nil)) { _ in completion() }
    }

    /// Passes on the end of a call.
    func end(_ token: CallToken, _ result: Result<CallResult, HostError>) {
        pending.removeValue(forKey: token)?(result)
    }

    func detach() {
        guard isAttached else { return }
        isAttached = false
        pending = [:]
        runner.detach(id)
    }
}
