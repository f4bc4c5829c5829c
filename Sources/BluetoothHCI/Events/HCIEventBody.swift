import BluetoothBase

/// The parameters of an event.
public protocol HCIEventBody: ~Escapable {
    /// The event's code.
    static var code: HCIEventCode { get }

    /// Appends the parameters, without the event header.
    func encodeParameters(into writer: inout ByteWriter)
}

/// The parameters of an LE Meta event (Core 5.4, Vol 4, Part E, 7.7.65).
public protocol LEEventBody: HCIEventBody, ~Escapable {
    /// The subevent code.
    static var subeventCode: LESubeventCode { get }

    /// Appends the parameters after the subevent code.
    func encodeSubeventParameters(into writer: inout ByteWriter)
}

extension LEEventBody where Self: ~Escapable {
    /// The event code of LE Meta, 0x3E.
    public static var code: HCIEventCode { .leMeta }

    /// Appends the subevent code and the parameters after it.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(Self.subeventCode.rawValue)
        encodeSubeventParameters(into: &writer)
    }
}

extension HCIEventBody where Self: ~Escapable {
    /// Appends the complete packet, starting with its H4 indicator (Vol 4, Part E, 5.4.4). Parameters beyond the limit
    /// of 255 octets are dropped.
    public func encodePacket(into writer: inout ByteWriter) {
        writer.append(HCIPacketType.event.rawValue)
        writer.append(Self.code.rawValue)
        let lengthOffset = writer.count
        writer.append(UInt8(0))
        encodeParameters(into: &writer)
        if writer.count > lengthOffset + 256 { writer.truncate(to: lengthOffset + 256) }
        writer.overwrite(UInt8(truncatingIfNeeded: writer.count - lengthOffset - 1), at: lengthOffset)
    }
}
