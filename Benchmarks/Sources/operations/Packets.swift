import BluetoothATT
import BluetoothBase
import BluetoothHCI
import BluetoothHost

/// Packets from a controller.
enum Packets {
    /// An ATT PDU about an attribute, on the first connection handle of the simulation.
    static func att(_ opcode: UInt8, _ handle: AttributeHandle, _ value: [UInt8] = []) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(UInt8(0x02))
        writer.append(UInt16(0x2040))
        writer.append(UInt16(value.count + 7))
        writer.append(UInt16(value.count + 3))
        writer.append(UInt16(0x0004))
        writer.append(opcode)
        writer.append(handle.rawValue)
        writer.append(value)
        return writer.bytes
    }

    /// A K-frame with a complete SDU, on the first dynamically allocated channel.
    static func sdu(_ sdu: [UInt8]) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(UInt8(0x02))
        writer.append(UInt16(0x2040))
        writer.append(UInt16(sdu.count + 6))
        writer.append(UInt16(sdu.count + 2))
        writer.append(UInt16(0x0040))
        writer.append(UInt16(sdu.count))
        writer.append(sdu)
        return writer.bytes
    }

    /// Credits from the peer, for its first channel.
    static func credits(_ count: UInt16) -> [UInt8] {
        var writer = ByteWriter()
        writer.append([0x02, 0x40, 0x20, 0x0C, 0x00, 0x08, 0x00, 0x05, 0x00, 0x16, 0x01, 0x04, 0x00, 0x40, 0x00])
        writer.append(count)
        return writer.bytes
    }

    /// Number Of Completed Packets, for the same connection handle.
    static func completed(_ count: Int) -> [UInt8] {
        [0x04, 0x13, 0x05, 0x01, 0x40, 0x00, UInt8(count & 0xFF), UInt8(count >> 8)]
    }

    /// LE Advertising Report: flags, transmit power, two 16-bit services, and manufacturer data, which together fill 31
    /// octets.
    static var advertisingReport: [UInt8] {
        let data: [UInt8] =
            [2, 0x01, 6, 2, 0x0A, 4, 5, 0x03, 0x0D, 0x18, 0x0F, 0x18, 18, 0xFF, 0x4C, 0]
            + Array(repeating: 0xA5, count: 15)
        return [4, 0x3E, UInt8(12 + data.count), 2, 1, 0, 1, 1, 2, 3, 4, 5, 0xC6, UInt8(data.count)] + data + [0xC4]
    }
}

/// Consumes events as an application does: the closure borrows the bytes of each value.
@inline(never)
func drain(_ events: inout HostEventQueue, _ subscriber: (Span<UInt8>) -> Void) {
    while let event = events.next() {
        switch consume event {
        case .client(_, let event):
            guard case .notification(_, let payload) = consume event else { continue }
            subscriber(events.octets(of: payload))
        case .server(_, let event):
            guard case .valueWritten(_, let payload) = consume event else { continue }
            subscriber(events.octets(of: payload))
        case .channel(_, let event):
            guard case .received(_, let payload) = consume event else { continue }
            subscriber(events.octets(of: payload))
        case .advertisement(let advertisement): subscriber(events.octets(of: advertisement.data))
        case .controller, .link, .security, .bondChanged, .bondMade, .bondVoid, .periodic, .subevents: continue
        }
    }
}

/// Consumes packets as a transport does: reads the bytes of each packet and removes it.
@inline(never)
func drain(_ outbox: inout PacketQueue) -> Int {
    var sum = 0
    while !outbox.isEmpty {
        // Commands that return credits to the controller do not count.
        if outbox.first[0] == HCIPacketType.aclData.rawValue { sum += outbox.first.count }
        outbox.removeFirst()
    }
    return sum
}
