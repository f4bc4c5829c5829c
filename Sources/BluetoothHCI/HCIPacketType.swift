/// The packet indicator that starts every packet on an H4 transport (Core 5.4, Vol 4, Part A, 2).
public enum HCIPacketType: UInt8, Sendable {
    case command = 0x01
    case aclData = 0x02
    case synchronousData = 0x03
    case event = 0x04
    case isoData = 0x05
}
