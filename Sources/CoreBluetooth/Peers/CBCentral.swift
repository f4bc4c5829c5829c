import BluetoothLE
import Foundation

/// A central that uses this application's services.
open class CBCentral: CBPeer {
    /// The longest value that one notification to it carries: ATT_MTU less 3 octets.
    open var maximumUpdateValueLength: Int { updateLength }

    let address: DeviceAddress
    @Guarded var updateLength = 20

    init(_ identifier: UUID, _ address: DeviceAddress) {
        self.address = address
        super.init(identifier: identifier)
    }

    open override var description: String { "<CBCentral: identifier = \(identifier), MTU = \(updateLength + 3)>" }
}
