import Foundation
import NIOCore

/// The origin of a connection, for the limits per address. Addresses that one machine can easily obtain count as one.
enum ClientOrigin: Hashable, Sendable {
    case ipv4(UInt32)
    /// The first 64 bits. A machine may choose the rest (RFC 4291, 2.5.4).
    case ipv6Network(UInt64)
    /// The last 64 bits. The first 64 are the same for all machines on the link (RFC 4291, 2.5.6).
    case linkLocal(UInt64)
    case unknown

    /// The network whose limit the origin shares. A machine on the link may have any number of link-local addresses.
    var network: ClientOrigin {
        switch self {
        case .linkLocal: .ipv6Network(0xFE80 << 48)
        case .ipv4, .ipv6Network, .unknown: self
        }
    }

    init(_ address: SocketAddress?) {
        switch address {
        case .v4(let address): self = .ipv4(UInt32(bigEndian: address.address.sin_addr.s_addr))
        case .v6(let address):
            self = withUnsafeBytes(of: address.address.sin6_addr) { octets in
                let network = octets[..<8].reduce(0) { $0 << 8 | UInt64($1) }
                let interface = octets[8...].reduce(0) { $0 << 8 | UInt64($1) }
                // An IPv4-mapped address, as reported by a dual-stack socket (RFC 4291, 2.5.5.2).
                if network == 0, interface >> 32 == 0xFFFF { return .ipv4(UInt32(truncatingIfNeeded: interface)) }
                return network >> 54 == 0xFE80 >> 6 ? .linkLocal(interface) : .ipv6Network(network)
            }
        case .unixDomainSocket, nil: self = .unknown
        }
    }
}
