import BluetoothBase
import BluetoothHCI
import BluetoothHost
import BluetoothL2CAP

// The controller's side: well-formed packets with contents chosen by the fuzzer. There are raw packets as well.

extension HostBench {
    /// A packet as the fuzzer made it, indicator first.
    mutating func receive(_ packet: Span<UInt8>) {
        note(packet)
        host.receive(packet, at: now)
    }

    /// Answers the oldest unanswered command, in one way or another.
    mutating func answerCommand(status: UInt8, _ returnParameters: Span<UInt8>) {
        guard !unanswered.isEmpty else { return }
        let opcode = unanswered.removeFirst()
        var writer = ByteWriter()
        let status = HCIStatus(rawValue: status & 0x80 == 0 ? 0 : status & 0x3F)
        if returnParameters.isEmpty {
            CommandStatus(status: status, numHCICommandPackets: 1, opcode: opcode).encodePacket(into: &writer)
        } else {
            var parameters = ByteWriter()
            parameters.append(status.rawValue)
            parameters.append(returnParameters)
            CommandComplete(opcode: opcode, returnParameters: parameters.bytes.span).encodePacket(into: &writer)
        }
        receive(writer.bytes.span)
    }

    mutating func reportConnection(role: UInt8, handle: UInt8, _ peer: DeviceAddress) {
        var writer = ByteWriter()
        writer.append([0x04, 0x3E, 0x13, 0x01, 0x00])
        writer.append(UInt16(handle & 7))
        writer.append(role & 3)
        writer.append(UInt8(peer.kind == .public ? 0 : 1))
        writer.append(peer.value, byteCount: 6)
        for parameter in [24, 0, 100] as [UInt16] { writer.append(parameter) }
        writer.append(UInt8(0))
        receive(writer.bytes.span)
    }

    /// A whole frame from a peer, in one packet.
    mutating func receiveFrame(handle: UInt8, _ channel: UInt16, _ payload: Span<UInt8>) {
        var frame = ByteWriter()
        L2CAPFrame(channel: ChannelIdentifier(channel), payload: payload).encode(into: &frame)
        var writer = ByteWriter()
        ACLDataPacket(
            connectionHandle: ConnectionHandle(UInt16(handle & 7)), boundary: .firstFlushable, data: frame.bytes.span
        ).encodePacket(into: &writer)
        receive(writer.bytes.span)
    }

    mutating func completePackets(handle: UInt8, count: UInt8) {
        var writer = ByteWriter()
        let completed = [CompletedPackets(connectionHandle: ConnectionHandle(UInt16(handle & 7)), count: UInt16(count))]
        NumberOfCompletedPackets.encodePacket(completed.span, into: &writer)
        receive(writer.bytes.span)
    }

    /// Records the effect of a packet on the controller's buffers.
    private mutating func note(_ packet: Span<UInt8>) {
        guard packet.count > 1, packet[0] == HCIPacketType.event.rawValue,
            let event = try? HCIEvent(decoding: packet.extracting(1..<packet.count))
        else { return }
        switch event {
        case .numberOfCompletedPackets(var completed):
            while let entry = completed.next() {
                outstanding[entry.connectionHandle, default: 0] -= Int(entry.count)
                outstanding[entry.connectionHandle] = max(0, outstanding[entry.connectionHandle] ?? 0)
            }
        case .disconnectionComplete(let complete) where complete.status.isSuccess:
            outstanding[complete.connectionHandle] = nil
        case .leConnectionComplete(let complete) where complete.status.isSuccess:
            // A new connection with an old handle: the controller has dropped the packets of the old one.
            outstanding[complete.connectionHandle] = nil
        case .leEnhancedConnectionComplete(let complete) where complete.status.isSuccess:
            outstanding[complete.connectionHandle] = nil
        case .commandStatus(let status): noteAnswer(to: status.opcode, status.status)
        case .commandComplete(let complete): noteAnswer(to: complete.opcode, complete.status)
        default: return
        }
    }

    /// A controller that does not know the link holds no packets of it.
    private mutating func noteAnswer(to opcode: HCIOpcode, _ status: HCIStatus?) {
        guard opcode == .disconnect, !disconnecting.isEmpty else { return }
        let handle = disconnecting.removeFirst()
        if status == .unknownConnectionIdentifier { outstanding[handle] = nil }
    }
}
