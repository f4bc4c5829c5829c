// What one library's headers declare as an enumeration and the other's as a macro.
#if canImport(Glibc)
    /// `SOCK_SEQPACKET`.
    public let packetSocketType = Int32(SOCK_SEQPACKET.rawValue)
#else
    /// `SOCK_SEQPACKET`.
    public let packetSocketType = SOCK_SEQPACKET
#endif
