import BluetoothATT
import Foundation

/// A part of a server's database: a service, a characteristic or a descriptor.
open class CBAttribute: NSObject {
    /// The attribute's type.
    open var uuid: CBUUID { type }

    private let type: CBUUID
    /// Where a discovered attribute is in the peer's database: a service's declaration, a characteristic's value, a
    /// descriptor. Zero for one that this application defines.
    /// Of a restored one it changes where the peer has moved it.
    @Guarded var handle: AttributeHandle

    init(_ type: CBUUID, at handle: AttributeHandle) {
        self.type = type
        self.handle = handle
    }
}
