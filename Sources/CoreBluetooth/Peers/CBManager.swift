import Foundation

/// The base class of both managers.
open class CBManager: NSObject, KeyValueObservable {
    /// The state of Bluetooth. The delegate is called when it changes; `.unknown` until the first callback.
    open var state: CBManagerState { currentState }

    /// Whether this program may use the adapter that a new manager would use.
    open class var authorization: CBManagerAuthorization { Authorization.current(for: BluetoothEnvironment.transport) }

    /// Whether this program may use the adapter.
    @available(*, deprecated, message: "use the property of the class")
    open var authorization: CBManagerAuthorization { Authorization.current(for: transport) }

    /// The observers that `observe(_:options:changeHandler:)` has added. They are called when `state`,
    /// `CBCentralManager.isScanning` or `CBPeripheralManager.isAdvertising` changes.
    public let _observers = KeyValueObservers()
    private let transport: BluetoothTransport
    @Guarded var currentState = CBManagerState.unknown {
        didSet { _observers.changed() }
    }

    /// The attachment between the callbacks for power on and power off. Calls made before the application knows of a
    /// power cycle are void.
    @Guarded var attachment: Attachment?

    // `@usableFromInline` makes it visible to subclasses in other modules. Only then do they inherit initializers.
    @usableFromInline
    init(_ environment: ManagerEnvironment) {
        transport = environment.transport
    }

    /// Whether a call can be made now. If not, the misuse is logged.
    func isOn(_ call: String) -> Bool {
        if state == .poweredOn { return true }
        reportMisuse("\(self) can only \(call) while in the powered on state")
        return false
    }

    open override var description: String { "<\(Self.self): \(place(of: self))>" }
}
