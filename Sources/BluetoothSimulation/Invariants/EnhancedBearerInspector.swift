import BluetoothBase
import BluetoothL2CAP

/// Checks the enhanced ATT bearers of one link. It learns from the signaling commands which channels are bearers.
struct EnhancedBearerInspector: Sendable {
    /// A bearer, with the remaining length of the SDU in progress in each direction.
    private struct Bearer: Sendable {
        let own: UInt16
        let peer: UInt16
        var inspector: BearerInspector
        var leftToSend = 0
        var leftToReceive = 0
    }

    private struct Request: Sendable {
        var sources: [UInt16]
        var mtu: UInt16
    }

    private var bearers: [Bearer] = []
    private var ownRequests: [UInt8: Request] = [:]
    private var peerRequests: [UInt8: Request] = [:]

    mutating func sent(_ packet: Span<UInt8>) -> HCIInspector.Finding? {
        guard let frame = ChannelInspector.Frame(packet) else { return nil }
        if frame.channel == ChannelInspector.signalling {
            if let command = ChannelInspector.Command(packet) { sent(command) }
            return nil
        }
        guard let index = bearers.firstIndex(where: { $0.peer == frame.channel }),
            let pdu = Self.pdu(packet, frame.length, &bearers[index].leftToSend)
        else { return nil }
        return bearers[index].inspector.sent(pdu, packet)
    }

    mutating func received(_ packet: Span<UInt8>) {
        guard let frame = ChannelInspector.Frame(packet) else { return }
        if frame.channel == ChannelInspector.signalling {
            if let command = ChannelInspector.Command(packet) { received(command) }
            return
        }
        guard let index = bearers.firstIndex(where: { $0.own == frame.channel }),
            let pdu = Self.pdu(packet, frame.length, &bearers[index].leftToReceive)
        else { return }
        bearers[index].inspector.received(pdu)
    }

    /// The PDU that a K-frame begins; nil if the frame continues one.
    private static func pdu(_ packet: Span<UInt8>, _ length: Int, _ left: inout Int) -> AttributePDU? {
        guard left == 0 else {
            left = max(0, left - length)
            return nil
        }
        guard let pdu = AttributePDU(sduIn: packet) else { return nil }
        left = max(0, pdu.length + 2 - length)
        return pdu
    }

    private mutating func sent(_ command: ChannelInspector.Command) {
        switch command.code {
        case .creditBasedConnectionRequest: ownRequests[command.identifier] = Self.request(command)
        case .creditBasedConnectionResponse:
            guard let request = peerRequests.removeValue(forKey: command.identifier) else { return }
            for (own, peer) in zip(command.words(from: 4), request.sources) { open(own, peer, request, command) }
        case .disconnectionRequest: bearers.removeAll { $0.own == command[1] }
        case .disconnectionResponse: bearers.removeAll { $0.own == command[0] }
        case .creditBasedReconfigureRequest: mayHaveGrown(command)
        default: return
        }
    }

    private mutating func received(_ command: ChannelInspector.Command) {
        switch command.code {
        case .creditBasedConnectionRequest: peerRequests[command.identifier] = Self.request(command)
        case .creditBasedConnectionResponse:
            guard let request = ownRequests.removeValue(forKey: command.identifier) else { return }
            for (own, peer) in zip(request.sources, command.words(from: 4)) { open(own, peer, request, command) }
        case .creditBasedReconfigureRequest: mayHaveGrown(command)
        default: return
        }
    }

    private static func request(_ command: ChannelInspector.Command) -> Request? {
        guard command[0] == SPSM.enhancedATT, let mtu = command[1] else { return nil }
        return Request(sources: command.words(from: 4), mtu: mtu)
    }

    private mutating func open(
        _ own: UInt16, _ peer: UInt16, _ request: Request, _ response: ChannelInspector.Command
    ) {
        guard own != 0, peer != 0, let mtu = response[0] else { return }
        bearers.removeAll { $0.own == own || $0.peer == peer }
        bearers.append(
            Bearer(own: own, peer: peer, inspector: BearerInspector(channelMTU: Int(min(mtu, request.mtu)))))
    }

    private mutating func mayHaveGrown(_ command: ChannelInspector.Command) {
        guard let mtu = command[0] else { return }
        for index in bearers.indices { bearers[index].inspector.mayHaveGrown(to: Int(mtu)) }
    }
}
