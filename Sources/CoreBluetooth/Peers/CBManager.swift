import Foundation

/// What both kinds of managers are.
open class CBManager: NSObject {
    /// What can be done with Bluetooth now. The delegate is told when it changes; `.unknown` until it has been told first.
    open var state: CBManagerState { currentState }

    /// Whether this program may use the adapter that a manager would use if it were made now.
    open class var authorization: CBManagerAuthorization { Authorization.current(for: BluetoothEnvironment.transport) }

    /// Whether this program may use the adapter.
    @available(*, deprecated, message: "use the property of the class")
    open var authorization: CBManagerAuthorization { Authorization.current(for: transport) }

    private let transport: BluetoothTransport
    @Guarded var currentState = CBManagerState.unknown

    init(_ environment: ManagerEnvironment) {
        transport = environment.transport
    }
}
