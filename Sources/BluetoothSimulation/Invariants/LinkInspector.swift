import BluetoothATT
import BluetoothBase

/// Checks the ATT PDUs on all bearers of one link, and its credit-based channels.
struct LinkInspector: Sendable {
    let handle: UInt16
    /// The number of packets that the controller holds.
    var outstanding = 0
    private var fixed = BearerInspector()
    private var enhanced = EnhancedBearerInspector()
    private var channels = ChannelInspector()

    init(handle: UInt16) { self.handle = handle }

    /// Whether the peer has confirmed an indication of a value. Indications use the fixed channel.
    func isConfirmed(_ place: SimulatedValue.Place) -> Bool { fixed.isConfirmed(place) }

    mutating func sent(_ packet: Span<UInt8>) -> HCIInspector.Finding? {
        if let finding = channels.sent(packet) ?? enhanced.sent(packet) { return finding }
        guard let pdu = AttributePDU(packet) else { return nil }
        return fixed.sent(pdu, packet)
    }

    mutating func received(_ packet: Span<UInt8>) {
        channels.received(packet)
        enhanced.received(packet)
        if let pdu = AttributePDU(packet) { fixed.received(pdu) }
    }
}
