import BluetoothBase
import BluetoothHost
import BluetoothUsers

/// One concern of a user, with private state. Parts see the shared context, and only those other parts that they are
/// given.
protocol UserPart: AnyObject {
    var context: UserContext { get }
}

extension UserPart {
    var run: ScenarioRun { context.run }
    var station: Int { context.station }
    var isPublisher: Bool { context.isPublisher }
    var isAttached: Bool { context.isAttached }
    var links: UserLinks { context.links }
    var calls: CallLedger { context.calls }
    var now: Instant { context.now }

    @discardableResult
    func post(_ kind: HostCall.Kind, _ call: CallLedger.Call, knownChanges: UInt32? = nil) -> CallToken {
        context.post(kind, call, knownChanges: knownChanges)
    }

    func post(_ kind: HostCall.Kind) { context.post(kind) }

    func fail(_ rule: Violation.Rule, _ text: String) { context.fail(rule, text) }
}
