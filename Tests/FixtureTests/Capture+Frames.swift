import BluetoothBase
import BluetoothHCI
import BluetoothL2CAP

extension Capture {
    /// An L2CAP frame of a capture, whole.
    struct Frame: Sendable {
        var isFromController: Bool
        var handle: ConnectionHandle
        var channel: ChannelIdentifier
        var payload: [UInt8]
        /// Which packets of the capture carry it, in order.
        var packets: [Int]
    }

    /// A frame that could not be reassembled.
    struct BrokenFrame: Error {
        var packet: Int
        var reason: String
    }

    /// Every L2CAP frame, in the order in which they were complete.
    func frames() throws -> [Frame] {
        var frames: [Frame] = []
        var pieces: [Source: (reassembler: ACLReassembler, packets: [Int])] = [:]
        for (index, packet) in packets.enumerated() {
            if let ended = Self.disconnected(packet) { pieces = pieces.filter { $0.key.handle != ended } }
            guard let content = packet.content(of: .aclData) else { continue }
            let data = try ACLDataPacket(decoding: content.span)
            let source = Source(isFromController: packet.isFromController, handle: data.connectionHandle)
            var (reassembler, indices) = pieces[source] ?? (ACLReassembler(maximumFrameLength: 1024), [])
            indices.append(index)
            switch reassembler.receive(data.data, boundary: data.boundary) {
            case .incomplete: break
            case .frame:
                frames.append(try Frame(decoding: data.data, source, indices))
                indices = []
            case .reassembled:
                frames.append(try Frame(decoding: reassembler.buffer, source, indices))
                indices = []
            case .dropped(let reason): throw BrokenFrame(packet: index, reason: "\(reason)")
            }
            pieces[source] = (reassembler, indices)
        }
        if let unfinished = pieces.values.first(where: { !$0.packets.isEmpty }) {
            throw BrokenFrame(packet: unfinished.packets[0], reason: "unfinished")
        }
        return frames
    }

    fileprivate struct Source: Hashable {
        var isFromController: Bool
        var handle: ConnectionHandle
    }

    private static func disconnected(_ packet: Packet) -> ConnectionHandle? {
        guard let content = packet.content(of: .event),
            case .disconnectionComplete(let event)? = try? HCIEvent(decoding: content.span), event.status.isSuccess
        else { return nil }
        return event.connectionHandle
    }
}

extension Capture.Frame {
    fileprivate init(
        decoding bytes: Span<UInt8>, _ source: Capture.Source, _ packets: [Int]
    ) throws(DecodingFailure) {
        let frame = try L2CAPFrame(decoding: bytes)
        self.init(
            isFromController: source.isFromController, handle: source.handle, channel: frame.channel,
            payload: Array(frame.payload), packets: packets)
    }
}
