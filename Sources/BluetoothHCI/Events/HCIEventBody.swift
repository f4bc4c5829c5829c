import BluetoothBase

/// What one kind of event carries.
public protocol HCIEventBody: ~Escapable {
    /// The event's code.
    static var code: HCIEventCode { get }

    /// Appends the parameters, without the event header.
    func encodeParameters(into writer: inout ByteWriter)
}

/// What one kind of LE Meta event carries (Core 5.4, Vol 4, Part E, 7.7.65).
public protocol LEEventBody: HCIEventBody, ~Escapable {
    /// The LE Meta event's code.
    static var subeventCode: LESubeventCode { get }

    /// Appends the parameters after the subevent code.
    func encodeSubeventParameters(into writer: inout ByteWriter)
}

extension LEEventBody where Self: ~Escapable {
    public static var code: HCIEventCode { .leMeta }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(Self.subeventCode.rawValue)
        encodeSubeventParameters(into: &writer)
    }
}

extension HCIEventBody where Self: ~Escapable {
    /// Appends the whole packet, H4 indicator first (Vol 4, Part E, 5.4.4). Anything beyond the 255 octets of an
    /// event's parameters is dropped.
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
