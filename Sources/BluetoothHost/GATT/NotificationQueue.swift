import BluetoothATT
import BluetoothBase
import BluetoothL2CAP

/// A queue of packets whose notifications can be combined.
protocol NotificationQueue {
    var count: Int { get }
    /// Calls `body` with a packet, counted from the oldest.
    func withPacket<Result>(at index: Int, _ body: (Span<UInt8>) -> Result) -> Result
    mutating func removeFirst()
}

/// The queue of a link, with frames of all channels.
extension PacketQueue: NotificationQueue {
    func withPacket<Result>(at index: Int, _ body: (Span<UInt8>) -> Result) -> Result { body(packet(at: index)) }
}

/// The queue of an enhanced ATT bearer.
extension SDUQueue: NotificationQueue {}

/// The header in front of the PDUs in a queue.
enum PDUHeader {
    /// The header of a frame, on any channel.
    case frame
    /// No header: the PDUs are SDUs of a bearer.
    case none

    var length: Int { self == .frame ? L2CAPFrame.headerLength : 0 }
}

/// Combines notifications that wait for the same client into one PDU, if the client supports that (Core 5.4, Vol 3,
/// Part F, 3.4.7.4 and Part G, 4.10.2). No notification is delayed to wait for others, and none overtakes another
/// packet.
extension NotificationQueue {
    /// The number of notifications at the front of the queue that fit into one PDU.
    ///
    /// - Parameter limit: the maximum length of the PDU, in octets.
    /// - Returns: the number; 0 if fewer than two fit.
    func joinableNotifications(behind header: PDUHeader, limit: Int) -> Int {
        var number = 0, length = 1
        while number < count, let value = valueLength(ofNotificationAt: number, behind: header) {
            // Each value is preceded by its handle and its length.
            length &+= 4 &+ value
            guard length <= limit else { break }
            number &+= 1
        }
        return number > 1 ? number : 0
    }

    /// Moves this number of notifications into one PDU.
    mutating func joinNotifications(_ number: Int, behind header: PDUHeader, into writer: inout ByteWriter) {
        MultipleHandleValueNotification.begin(into: &writer)
        for _ in 0..<number {
            appendFirst(behind: header, into: &writer)
            removeFirst()
        }
    }

    private func appendFirst(behind header: PDUHeader, into writer: inout ByteWriter) {
        withPacket(at: 0) { packet in
            let parameters = ByteReader(packet.extracting(droppingFirst: header.length &+ 1))
            // Cannot fail: counting them has already checked that these packets are notifications.
            guard let notification = try? HandleValueNotification(decoding: parameters) else { return }
            MultipleHandleValueNotification.append(
                handle: notification.handle, value: notification.value, into: &writer)
        }
    }

    /// The length of the value if the packet is a notification of a single value; nil if it is anything else.
    private func valueLength(ofNotificationAt index: Int, behind header: PDUHeader) -> Int? {
        withPacket(at: index) { packet in
            if header == .frame, L2CAPFrame.header(ofPDUStartingWith: packet)?.channel != .attributeProtocol {
                return nil
            }
            guard packet.count >= header.length &+ 3,
                packet[header.length] == ATTOpcode.handleValueNotification.rawValue
            else { return nil }
            return packet.count &- header.length &- 3
        }
    }
}
