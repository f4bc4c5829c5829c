import BluetoothGATT
import Foundation

/// A central that uses this application's services.
open class CBCentral: CBPeer {
    /// The maximum length of the value of one notification, in octets: ATT_MTU − 3, but at most 512.
    open var maximumUpdateValueLength: Int { updateLength }

    /// The link that the central last used.
    @Guarded var link: CentralLink
    @Guarded var updateLength: Int

    init(_ identifier: UUID, _ link: CentralLink, mtu: Int) {
        self.link = link
        updateLength = Self.length(mtu)
        super.init(identifier: identifier)
    }

    static func length(_ mtu: Int) -> Int { min(mtu - 3, GATTAttributeValue.maximumLength) }

    open override var description: String { "<CBCentral: identifier = \(identifier), MTU = \(updateLength + 3)>" }
}
