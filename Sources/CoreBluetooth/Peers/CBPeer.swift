import Foundation

/// Another device.
open class CBPeer: NSObject, NSCopying {
    /// What the device is known by on this system, in this run and in others. It says nothing elsewhere.
    open var identifier: UUID { peerIdentifier }

    private let peerIdentifier: UUID

    init(identifier: UUID) {
        peerIdentifier = identifier
    }

    open func copy(with zone: NSZone? = nil) -> Any { self }
}
