/// Identifies a peer, whatever address it is using now.
///
/// It contains the address under which the peer was first seen, so it needs no table: the same peer gets the same ID in
/// every run, and creating IDs while scanning costs nothing. The table of known peers determines which peer a private
/// address belongs to. The ID never changes while the peer is connected.
public struct PeerID: Hashable, Sendable {
    /// The 48 bits of the address, and bit 48 for a random one.
    public let rawValue: UInt64

    private static let randomBit: UInt64 = 1 << 48

    /// Creates the ID of a peer first seen under this address. An identity address that the controller resolved counts
    /// as the address it resolved to.
    @inlinable
    public init(_ address: DeviceAddress) {
        rawValue = address.value | UInt64(address.kind.rawValue & 1) << 48
    }

    /// The address under which the peer was first seen.
    public var firstAddress: DeviceAddress {
        DeviceAddress(rawValue, kind: rawValue & Self.randomBit == 0 ? .public : .random)
    }
}

extension PeerID: CustomStringConvertible {
    /// The first address as text, such as `C0:11:22:33:44:55`.
    public var description: String { firstAddress.description }
}
