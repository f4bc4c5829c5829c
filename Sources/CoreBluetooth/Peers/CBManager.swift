import Foundation

/// What both kinds of managers are.
open class CBManager: NSObject, KeyValueObservable {
    /// What can be done with Bluetooth now. The delegate is told when it changes; `.unknown` until it has been told first.
    open var state: CBManagerState { currentState }

    /// Whether this program may use the adapter that a manager would use if it were made now.
    open class var authorization: CBManagerAuthorization { Authorization.current(for: BluetoothEnvironment.transport) }

    /// Whether this program may use the adapter.
    @available(*, deprecated, message: "use the property of the class")
    open var authorization: CBManagerAuthorization { Authorization.current(for: transport) }

    public let _observers = KeyValueObservers()
    private let transport: BluetoothTransport
    @Guarded var currentState = CBManagerState.unknown {
        didSet { _observers.changed() }
    }

    /// What the application uses the adapter through, from when it is told that it is on until it is told that it is not:
    /// what it asks for before it knows of a power cycle is void.
    @Guarded var attachment: Attachment?

    // Usable from inline, and so known to subclasses elsewhere: those of the two kinds of managers inherit initializers
    // only then.
    @usableFromInline
    init(_ environment: ManagerEnvironment) {
        transport = environment.transport
    }

    open override var description: String { "<\(Self.self): \(place(of: self))>" }
}
