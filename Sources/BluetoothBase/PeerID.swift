/// Names a peer, whatever address it uses now.
///
/// It packs the address under which the peer was first met, so it needs no table: the same peer gets the same name in
/// every run, and making one costs a scan nothing. Which peer a private address belongs to is for the table of known
/// peers to say; the name itself never changes while the peer is linked.
public struct PeerID: Hashable, Sendable {
    /// The 48 bits of the address, and bit 48 for a random one.
    public let rawValue: UInt64

    private static let randomBit: UInt64 = 1 << 48

    /// The name of a peer first met under this address. An identity address that the controller resolved counts as the
    /// address it resolved to.
    @inlinable
    public init(_ address: DeviceAddress) {
        rawValue = address.value | UInt64(address.kind.rawValue & 1) << 48
    }

    /// The address under which the peer was first met.
    public var firstAddress: DeviceAddress {
        DeviceAddress(rawValue, kind: rawValue & Self.randomBit == 0 ? .public : .random)
    }
}

extension PeerID: CustomStringConvertible {
    public var description: String { firstAddress.description }
}
