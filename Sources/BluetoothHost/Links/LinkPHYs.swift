import BluetoothHCI

/// The current PHYs of a link (Core 5.4, Vol 6, Part B, 4.6 and 5.1.10).
public struct LinkPHYs: Hashable, Sendable {
    /// The PHY that this device transmits on.
    public var transmit: LEPHY
    /// The PHY that the peer transmits on.
    public var receive: LEPHY

    /// Creates PHYs. The defaults are those of a new link, unless extended advertising on other PHYs led to it.
    public init(transmit: LEPHY = .le1M, receive: LEPHY = .le1M) {
        self.transmit = transmit
        self.receive = receive
    }
}

/// The maximum number of octets in a data packet on the air, in each direction (Core 5.4, Vol 6, Part B, 4.5.10). The
/// host requests the maximum that its controller supports.
public struct LinkDataLength: Equatable, Sendable {
    /// The maximum that this device transmits, 27 to 251.
    public var transmit: UInt16
    /// The maximum that the peer transmits, 27 to 251.
    public var receive: UInt16

    /// Creates lengths. The defaults are those of a new link.
    public init(transmit: UInt16 = 27, receive: UInt16 = 27) {
        self.transmit = transmit
        self.receive = receive
    }
}
