import Foundation

/// Another device.
open class CBPeer: NSObject, NSCopying, KeyValueObservable {
    /// Identifies the device on this system, across runs. It has no meaning on other systems.
    open var identifier: UUID { peerIdentifier }

    /// The observers that `observe(_:options:changeHandler:)` has added. They are called when the `name` or
    /// `state` of a peripheral changes.
    public let _observers = KeyValueObservers()
    private let peerIdentifier: UUID

    init(identifier: UUID) {
        peerIdentifier = identifier
    }

    /// A property by name, as in key-value coding. Only the keys that applications use are supported: `identifier`, and
    /// for a peripheral `name`, `state` and `mtuLength`. Any other key is a programming error.
    open func value(forKey key: String) -> Any? {
        guard key == "identifier" else {
            preconditionFailure(
                "[\(self) valueForUndefinedKey:]: this class is not key value coding-compliant for the key \(key).")
        }
        return identifier
    }

    open func copy(with zone: NSZone? = nil) -> Any { self }
}
