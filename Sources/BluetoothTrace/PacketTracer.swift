import BluetoothBase
import BluetoothHCI
import BluetoothL2CAP

/// Turns HCI packets into lines for a person to read, down to the ATT PDU:
///
///     0.012345 > CMD LE Set Scan Enable enabled true filter duplicates false
///     0.013001 > ACL 0x0040 ATT_WRITE_REQ handle 0x0012 value 01 00
///     0.015210 < EVT Disconnection Complete status Success handle 0x0040 reason Connection Timeout
///
/// Every packet gets its line, whatever is in it: what cannot be decoded is shown as malformed, with the reason and the
/// bytes. The state is the fragments of PDUs under way, for `maximumLinks` links at most; nothing else is remembered.
public struct PacketTracer: Sendable {
    /// Which way a packet goes.
    public enum Direction: Sendable, CaseIterable {
        case hostToController, controllerToHost
    }

    /// For how many links fragments are kept. Those of the link longest known give way to a new one's.
    public static let maximumLinks = 32

    /// Whether the keys in commands and in key distribution are shown. Off, because lines tend to be kept and passed on.
    public var showsKeys: Bool

    var links: [TracedLink] = []

    public init(showsKeys: Bool = false) {
        self.showsKeys = showsKeys
    }

    /// The line for one packet, H4 indicator first, without a line break. The time is shown in seconds since the
    /// origin of `instant`.
    public mutating func line(for packet: Span<UInt8>, _ direction: Direction, at instant: Instant) -> String {
        let mark = direction == .hostToController ? ">" : "<"
        return "\(seconds(instant)) \(mark) \(text(of: packet, direction))"
    }

    private mutating func text(of packet: Span<UInt8>, _ direction: Direction) -> String {
        guard !packet.isEmpty else { return "empty packet" }
        let content = packet.extracting(1..<packet.count)
        switch HCIPacketType(rawValue: packet[0]) {
        case .command: return "CMD " + CommandText(fields: fields).text(content)
        case .event: return "EVT " + event(content)
        case .aclData: return "ACL " + aclData(content, direction)
        case .synchronousData: return joined("SCO", content.hexadecimal())
        case .isoData: return joined("ISO", content.hexadecimal())
        case nil: return joined("type 0x" + hexadecimal(packet[0]), content.hexadecimal())
        }
    }

    private mutating func event(_ packet: Span<UInt8>) -> String {
        do throws(DecodingFailure) {
            let event = try HCIEvent(decoding: packet)
            if case .disconnectionComplete(let event) = event, event.status.isSuccess {
                links.removeAll { $0.handle == event.connectionHandle }
            }
            return EventText(fields: fields).text(event)
        } catch {
            return joined(EventText.name(of: packet), malformed(error, packet))
        }
    }

    var fields: FieldText { FieldText(showsKeys: showsKeys) }

    /// Seconds with six places after the point.
    private func seconds(_ instant: Instant) -> String {
        let microseconds = instant.nanoseconds / 1000
        return "\(microseconds / 1_000_000)." + "\(1_000_000 + microseconds % 1_000_000)".dropFirst()
    }
}
