import BluetoothBase
import BluetoothHCI
import BluetoothL2CAP

/// The L2CAP PDUs in progress on one link.
struct TracedLink: Sendable {
    let handle: ConnectionHandle
    var toController = PartialPDU()
    var toHost = PartialPDU()
    var bearers = TracedBearers()
}

/// The reassembled fragments of an L2CAP PDU. It never exceeds the longest possible PDU.
struct PartialPDU: Sendable {
    private(set) var bytes: [UInt8] = []

    /// The length of the complete PDU; nil until it is known.
    var totalLength: Int? { L2CAPFrame.totalLength(ofPDUStartingWith: bytes.span) }

    /// The part of the PDU that has arrived, for example `27 of 104 bytes`.
    var progress: String { totalLength.map { "\(bytes.count) of \($0) bytes" } ?? "\(bytes.count) of ? bytes" }

    mutating func append(_ fragment: Span<UInt8>) {
        fragment.withUnsafeBufferPointer { bytes.append(contentsOf: $0) }
    }

    mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }
}

extension PacketTracer {
    /// Returns the text of an ACL data packet without its H4 indicator (Core 5.4, Vol 4, Part E, 5.4.2).
    mutating func aclData(
        _ packet: Span<UInt8>, _ direction: Direction, _ description: inout PacketDescription
    ) -> String {
        do throws(DecodingFailure) {
            let acl = try ACLDataPacket(decoding: packet)
            description.aclData = PacketDescription.ACLData(
                connectionHandle: acl.connectionHandle, boundary: acl.boundary, broadcast: acl.broadcast,
                dataLength: acl.data.count)
            let index = index(of: acl.connectionHandle)
            // The state is moved out of the array and back, so that `self` can be used to create the text without a
            // copy.
            var partial = direction == .hostToController ? links[index].toController : links[index].toHost
            setPartial(PartialPDU(), at: index, direction)
            var bearers = TracedBearers()
            swap(&bearers, &links[index].bearers)
            let text =
                acl.boundary == .continuing
                ? continuation(acl.data, &partial, &bearers, direction, &description)
                : start(acl.data, &partial, &bearers, direction, &description)
            swap(&bearers, &links[index].bearers)
            setPartial(partial, at: index, direction)
            return "\(acl.connectionHandle) \(text)"
        } catch {
            return description.malformed(error, packet)
        }
    }

    private mutating func setPartial(_ partial: PartialPDU, at index: Int, _ direction: Direction) {
        switch direction {
        case .hostToController: links[index].toController = partial
        case .controllerToHost: links[index].toHost = partial
        }
    }

    /// Returns the index of a link. A new link is added, and replaces the oldest one if the limit is reached.
    private mutating func index(of handle: ConnectionHandle) -> Int {
        if let index = links.firstIndex(where: { $0.handle == handle }) { return index }
        if links.count >= Self.maximumLinks { links.removeFirst() }
        links.append(TracedLink(handle: handle))
        return links.count - 1
    }

    private func start(
        _ data: Span<UInt8>, _ partial: inout PartialPDU, _ bearers: inout TracedBearers, _ direction: Direction,
        _ description: inout PacketDescription
    ) -> String {
        let lost = partial.bytes.isEmpty ? "" : "(unfinished: \(partial.progress))"
        partial.removeAll()
        if let length = L2CAPFrame.totalLength(ofPDUStartingWith: data), data.count >= length {
            return joined(lost, frame(data, &bearers, direction, &description))
        }
        if let header = L2CAPFrame.header(ofPDUStartingWith: data) {
            description.frame = PacketDescription.Frame(
                length: header.length, channel: header.channel, isComplete: false)
        }
        partial.append(data)
        return joined(lost, "start, \(partial.progress)")
    }

    private func continuation(
        _ data: Span<UInt8>, _ partial: inout PartialPDU, _ bearers: inout TracedBearers, _ direction: Direction,
        _ description: inout PacketDescription
    ) -> String {
        guard !partial.bytes.isEmpty else {
            return description.malformed("continuation without a start", data)
        }
        // The length is unknown before the end of the length field, so a fragment is added before it is checked.
        partial.append(data)
        guard let length = partial.totalLength, partial.bytes.count >= length else {
            return "continuation, \(partial.progress)"
        }
        defer { partial.removeAll() }
        guard partial.bytes.count == length else {
            return description.malformed("continuation beyond the end, \(partial.progress)", data)
        }
        return frame(partial.bytes.span, &bearers, direction, &description)
    }

    private func frame(
        _ bytes: Span<UInt8>, _ bearers: inout TracedBearers, _ direction: Direction,
        _ description: inout PacketDescription
    ) -> String {
        do throws(DecodingFailure) {
            let frame = try L2CAPFrame(decoding: bytes)
            description.frame = PacketDescription.Frame(
                length: frame.payload.count, channel: frame.channel, isComplete: true)
            if frame.channel == .leSignalling { bearers.note(frame.payload, direction) }
            let text = ChannelText(fields: fields)
            if frame.channel.isLEDynamic, let content = bearers.take(frame.payload, to: frame.channel, direction) {
                return text.text(content, of: frame, &description)
            }
            return text.text(frame, &description)
        } catch {
            return description.malformed(error, bytes)
        }
    }
}
