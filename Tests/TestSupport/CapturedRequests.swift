import BluetoothBase
import BluetoothHCI

/// The ATT PDUs that a device has received, from its capture. Each must have come in one ACL packet.
public func receivedAttributePDUs(inCapture contents: [UInt8]) throws -> [[UInt8]] {
    var reader = BTSnoopReader()
    reader.append(contents.span)
    var packet = ByteWriter()
    var pdus: [[UInt8]] = []
    while let record = try reader.next(into: &packet) {
        // The H4 indicator, four octets of ACL header, the length of the frame, and the channel.
        guard record.direction == .received, record.type == .aclData, packet.count > 9, packet[7] == 4, packet[8] == 0
        else { continue }
        pdus.append(Array(packet.bytes[9...]))
    }
    return pdus
}

/// Read By Type for the Database Hash, over all handles (Core 5.4, Vol 3, Part G, 7.3).
public let databaseHashRequest: [UInt8] = [0x08, 0x01, 0x00, 0xFF, 0xFF, 0x2A, 0x2B]

/// Whether a PDU asks for what a discovery finds.
public func isDiscoveryRequest(_ pdu: [UInt8]) -> Bool {
    switch pdu.first {
    case 0x04, 0x06, 0x10: true
    case 0x08: pdu.suffix(2) == [0x03, 0x28] || pdu.suffix(2) == [0x02, 0x28]
    default: false
    }
}
