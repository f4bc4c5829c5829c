import BluetoothBase
import BluetoothHCI
import BluetoothL2CAP

/// Formats HCI packets as human-readable lines, down to the ATT PDU:
///
///     0.012345 > CMD LE Set Scan Enable enabled true filter duplicates false
///     0.013001 > ACL 0x0040 ATT_WRITE_REQ handle 0x0012 value 01 00
///     0.015210 < EVT Hardware Error code 0x01
///
/// Every packet gets a line. A packet that can't be decoded is shown as malformed, with the reason and the bytes. The
/// only state is the partially received PDUs and the Enhanced ATT bearers of up to `maximumLinks` links.
public struct PacketTracer: Sendable {
    /// The direction of a packet.
    public enum Direction: Sendable, CaseIterable {
        case hostToController, controllerToHost
    }

    /// The maximum number of links for which fragments are kept. Beyond that, a new link replaces the oldest one.
    public static let maximumLinks = 32

    /// Whether to show the keys in commands and in key distribution. The default is false, because traces tend to be
    /// stored and shared.
    public var showsKeys: Bool

    /// Descriptions of the owners of encryption keys. If nil, the owner of a key is not shown.
    public var keyOwners: [UInt128: String]?

    var links: [TracedLink] = []

    /// Creates a tracer. By default it hides keys, and does not identify the owners of encryption keys.
    public init(showsKeys: Bool = false, keyOwners: [UInt128: String]? = nil) {
        self.showsKeys = showsKeys
        self.keyOwners = keyOwners
    }

    /// Returns the line for one packet, which starts with its H4 indicator. The line has no line break. The time is
    /// shown in seconds since the origin of `instant`.
    public mutating func line(for packet: Span<UInt8>, direction: Direction, at instant: Instant) -> String {
        describe(packet, direction: direction).line(direction, at: instant)
    }

    /// Describes one packet, which starts with its H4 indicator: its text and its numbers.
    public mutating func describe(_ packet: Span<UInt8>, direction: Direction) -> PacketDescription {
        var description = PacketDescription()
        guard !packet.isEmpty else {
            description.text = "empty packet"
            return description
        }
        description.packetType = packet[0]
        let content = packet.extracting(1..<packet.count)
        switch HCIPacketType(rawValue: packet[0]) {
        case .command:
            description.text = "CMD " + CommandText(fields: fields, keyOwners: keyOwners).text(content, &description)
        case .event: description.text = "EVT " + event(content, &description)
        case .aclData: description.text = "ACL " + aclData(content, direction, &description)
        case .synchronousData: description.text = joined("SCO", content.hexadecimal())
        case .isoData: description.text = joined("ISO", content.hexadecimal())
        case nil: description.text = joined("type 0x" + hexadecimal(packet[0]), content.hexadecimal())
        }
        return description
    }

    /// Describes a record of BlueZ's monitor that is not a packet. If the adapter appears, disappears, or is opened or
    /// closed, the state of all links is discarded.
    public mutating func describe(note data: Span<UInt8>, opcode: BTSnoop.MonitorOpcode) -> PacketDescription {
        if [.newIndex, .deleteIndex, .openIndex, .closeIndex].contains(opcode) { links.removeAll() }
        var description = PacketDescription()
        description.text = MonitorText(showsKeys: showsKeys).text(opcode, data, &description)
        return description
    }

    private mutating func event(_ packet: Span<UInt8>, _ description: inout PacketDescription) -> String {
        do throws(DecodingFailure) {
            let event = try HCIEvent(decoding: packet)
            if case .disconnectionComplete(let event) = event, event.status.isSuccess {
                links.removeAll { $0.handle == event.connectionHandle }
            }
            var words = EventText(fields: fields)
            let text = words.text(event)
            description.event = words.numbers
            // The length has already been checked. The code and the length precede the parameters.
            description.event?.parameterLength = packet.count - 2
            description.malformation = words.malformation
            return text
        } catch {
            return joined(EventText.name(of: packet), description.malformed(error, packet))
        }
    }

    var fields: FieldText { FieldText(showsKeys: showsKeys) }
}
