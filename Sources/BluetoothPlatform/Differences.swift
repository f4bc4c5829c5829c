// Declarations that are an enumeration in one C library and a macro in the other.
#if canImport(Glibc)
/// `SOCK_SEQPACKET`.
public let packetSocketType = Int32(SOCK_SEQPACKET.rawValue)
#else
/// `SOCK_SEQPACKET`.
public let packetSocketType = SOCK_SEQPACKET
#endif
