import BluetoothATT
import BluetoothBase
import BluetoothL2CAP

/// Notifications that wait in line for the same client, put together in one PDU where it understands that
/// (Core 5.4, Vol 3, Part F, 3.4.7.4 and Part G, 4.10.2). None is held back to wait for others, and none overtakes anything.
extension PacketQueue {
    /// What stands in front of the PDUs in a queue.
    enum PDUHeader {
        /// That of a frame, on whichever channel.
        case frame
        /// Nothing: they are SDUs of a bearer.
        case none

        var length: Int { self == .frame ? L2CAPFrame.headerLength : 0 }
    }

    /// How many notifications at the front of the queue fit into one PDU.
    ///
    /// - Parameter limit: how long that may be, in octets.
    /// - Returns: 0 where there are not two of them.
    func joinableNotifications(behind header: PDUHeader, limit: Int) -> Int {
        var number = 0, length = 1
        while number < count, let value = valueLength(ofNotificationAt: number, behind: header) {
            // Each has a handle and a length.
            length &+= 4 &+ value
            guard length <= limit else { break }
            number &+= 1
        }
        return number > 1 ? number : 0
    }

    /// Moves so many of them into one PDU.
    mutating func joinNotifications(_ number: Int, behind header: PDUHeader, into writer: inout ByteWriter) {
        MultipleHandleValueNotification.begin(into: &writer)
        for _ in 0..<number {
            appendFirst(behind: header, into: &writer)
            removeFirst()
        }
    }

    private func appendFirst(behind header: PDUHeader, into writer: inout ByteWriter) {
        let parameters = ByteReader(first.extracting(droppingFirst: header.length &+ 1))
        // It was checked to be a notification when those that fit were counted.
        guard let notification = try? HandleValueNotification(decoding: parameters) else { return }
        MultipleHandleValueNotification.append(
            handle: notification.handle, value: notification.value, into: &writer)
    }

    /// How long the value of a packet is that is a notification of a single one; nil if it is something else.
    private func valueLength(ofNotificationAt index: Int, behind header: PDUHeader) -> Int? {
        let packet = packet(at: index)
        if header == .frame, L2CAPFrame.header(ofPDUStartingWith: packet)?.channel != .attributeProtocol { return nil }
        guard packet.count >= header.length &+ 3,
            packet[header.length] == ATTOpcode.handleValueNotification.rawValue
        else { return nil }
        return packet.count &- header.length &- 3
    }
}
