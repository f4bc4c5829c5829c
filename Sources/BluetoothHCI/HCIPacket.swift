import BluetoothBase

/// A packet on an H4 transport, decoded by its indicator (Core 5.4, Vol 4, Part A, 2). A view: it borrows the bytes it
/// was decoded from.
public enum HCIPacket: ~Escapable {
    /// A command, from the host to the controller.
    case command(HCICommandPacket)
    /// ACL data, in either direction.
    case aclData(ACLDataPacket)
    /// An event, from the controller to the host.
    case event(HCIEvent)
    /// Synchronous data, which LE does not use, without its indicator.
    case synchronousData(Span<UInt8>)
    /// Isochronous data, without its indicator.
    case isoData(Span<UInt8>)

    /// Decodes one complete packet, starting with its H4 indicator. Offsets in errors of the packet's own decoder are
    /// relative to the octet after the indicator.
    ///
    /// - Throws: `unknownCode` for an unknown indicator, and the errors of the packet's own decoder.
    @inlinable
    @_lifetime(copy packet)
    public init(decoding packet: Span<UInt8>) throws(DecodingFailure) {
        var reader = ByteReader(packet)
        let indicator = try reader.readUInt8()
        guard let type = HCIPacketType(rawValue: indicator) else {
            throw DecodingFailure(.unknownCode(UInt16(indicator)), at: 0)
        }
        let body = reader.readRemaining()
        switch type {
        case .command: self = .command(try HCICommandPacket(decoding: body))
        case .aclData: self = .aclData(try ACLDataPacket(decoding: body))
        case .event: self = .event(try HCIEvent(decoding: body))
        case .synchronousData: self = .synchronousData(body)
        case .isoData: self = .isoData(body)
        }
    }
}
