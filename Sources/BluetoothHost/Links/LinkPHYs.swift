import BluetoothHCI

/// The PHYs that a link uses (Core 5.4, Vol 6, Part B, 4.6 and 5.1.10).
public struct LinkPHYs: Hashable, Sendable {
    /// The one this device sends on.
    public var transmit: LEPHY
    /// The one the peer sends on.
    public var receive: LEPHY

    /// The PHYs of a new link, unless extended advertising on others led to it.
    public init(transmit: LEPHY = .le1M, receive: LEPHY = .le1M) {
        self.transmit = transmit
        self.receive = receive
    }
}

/// The most octets of a data packet on the air, in each direction (Core 5.4, Vol 6, Part B, 4.5.10). The host asks for as many as its
/// controller has.
public struct LinkDataLength: Equatable, Sendable {
    /// What this device sends, 27 to 251.
    public var transmit: UInt16
    /// What the peer sends, 27 to 251.
    public var receive: UInt16

    /// The lengths of a new link.
    public init(transmit: UInt16 = 27, receive: UInt16 = 27) {
        self.transmit = transmit
        self.receive = receive
    }
}
