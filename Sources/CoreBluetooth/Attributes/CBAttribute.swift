import BluetoothATT
import Foundation
import Synchronization

/// A part of a server's database: a service, a characteristic or a descriptor.
open class CBAttribute: NSObject {
    /// The attribute's type.
    open var uuid: CBUUID { type }

    private let type: CBUUID
    /// The handle of a discovered attribute: a service's declaration, a characteristic's value, a descriptor. Zero for
    /// an attribute of this application. After restoration it changes if the peer has moved the attribute.
    var handle: AttributeHandle {
        get { AttributeHandle(currentHandle.load(ordering: .relaxed)) }
        set { currentHandle.store(newValue.rawValue, ordering: .relaxed) }
    }
    private let currentHandle: Atomic<UInt16>

    init(_ type: CBUUID, at handle: AttributeHandle) {
        self.type = type
        currentHandle = Atomic(handle.rawValue)
    }
}
