import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothPlatform

/// A peer at the other end of a descriptor that keeps packets whole, to whom we are client and server.
struct SocketPeer {
    var endpoint = AttributeEndpoint()
    private var server = GATTServer()
    private let descriptor: Int32, origin = ContinuousClock.now

    init(_ descriptor: Int32, celsius: UInt8) throws {
        self.descriptor = descriptor
        let temperature = GATTCharacteristicDefinition(
            uuid: "2A1F", properties: .read, value: .constant([celsius]))
        _ = try server.database.add(GATTServiceDefinition(uuid: "1809", characteristics: [temperature]))
    }

    /// Begins an operation. Its end will be in `endpoint.events`.
    mutating func start(_ operation: GATTClientOperation) throws {
        var pdu = ByteWriter()
        _ = try endpoint.start(operation, at: now, into: &pdu)
        send(pdu)
    }

    /// Waits for a packet, or for something to be due, and handles it. False once the peer is gone.
    mutating func turn() -> Bool {
        let timeout = endpoint.nextDeadline.map { max(0, now.duration(to: $0).nanoseconds / 1_000_000 + 1) }
        var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        var pdu = ByteWriter()
        guard poll(&request, 1, Int32(timeout ?? -1)) > 0 else {
            guard let channel = endpoint.dueChannel(at: now) else { return true }
            if case .channelDied = endpoint.fire(channel, server: server, at: now, into: &pdu) { return false }
            send(pdu)
            return true
        }
        var packet = [UInt8](repeating: 0, count: server.maximumMTU)
        let count = recv(descriptor, &packet, packet.count, 0)
        if count > 0 {
            _ = endpoint.receive(packet.span.extracting(first: count), on: .first, server: &server, at: now, into: &pdu)
            send(pdu)
        } else {
            endpoint.closeAll()
        }
        return count > 0
    }

    private var now: Instant { Instant.zero.advanced(by: origin.duration(to: .now)) }

    private func send(_ pdu: ByteWriter) {
        if !pdu.isEmpty { _ = BluetoothPlatform.send(descriptor, pdu.bytes, pdu.count, Int32(MSG_NOSIGNAL)) }
    }
}
