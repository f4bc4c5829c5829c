/// The packet indicator that starts every packet on an H4 transport (Core 5.4, Vol 4, Part A, 2).
public enum HCIPacketType: UInt8, Sendable {
    /// A command, from the host to the controller.
    case command = 0x01
    /// ACL data, in either direction.
    case aclData = 0x02
    /// Synchronous data, which LE does not use.
    case synchronousData = 0x03
    /// An event, from the controller to the host.
    case event = 0x04
    /// Isochronous data, in either direction.
    case isoData = 0x05
}
