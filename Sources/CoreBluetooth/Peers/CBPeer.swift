import Foundation

/// Another device.
open class CBPeer: NSObject, NSCopying, KeyValueObservable {
    /// What the device is known by on this system, in this run and in others. It says nothing elsewhere.
    open var identifier: UUID { peerIdentifier }

    public let _observers = KeyValueObservers()
    private let peerIdentifier: UUID

    init(identifier: UUID) {
        peerIdentifier = identifier
    }

    /// A property by its name, as key-value coding has it. There is none of that here, but for what applications ask so:
    /// `identifier`, and of a peripheral `name`, `state` and `mtuLength`. Another name is a programming error.
    open func value(forKey key: String) -> Any? {
        guard key == "identifier" else {
            preconditionFailure(
                "[\(self) valueForUndefinedKey:]: this class is not key value coding-compliant for the key \(key).")
        }
        return identifier
    }

    open func copy(with zone: NSZone? = nil) -> Any { self }
}
