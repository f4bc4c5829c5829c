import BluetoothBase
import BluetoothL2CAP

/// The Enhanced ATT bearers of a link, with their partially received PDUs. They are the credit-based channels that
/// signalling commands have opened for the Attribute Protocol (Core 5.4, Vol 3, Part F, 3.2.11).
struct TracedBearers: Sendable {
    /// The receiving end of a bearer, with its partially received PDU.
    private struct End: Sendable {
        /// The direction of the K-frames that it receives.
        let direction: PacketTracer.Direction
        let channel: ChannelIdentifier
        var pdu: [UInt8] = []
        /// The number of octets of the PDU that have not arrived yet.
        var missing = 0
    }

    /// A request for bearers without a response so far.
    private struct Request: Sendable {
        let direction: PacketTracer.Direction
        let identifier: UInt8
        let sources: [ChannelIdentifier]
    }

    private var ends: [End] = []
    private var requests: [Request] = []

    /// The limits exceed the number of channels that a link can have, and the number of requests pending at a time on
    /// any realistic link.
    private static let maximumEnds = 128, maximumRequests = 16

    /// The content of a K-frame on a bearer.
    enum Content {
        case pdu([UInt8])
        /// The part of the PDU that has arrived, for example `27 of 104 bytes`.
        case part(String)
        /// The K-frame exceeds the PDU to which it belongs, or is too short for the PDU's length.
        case malformed
    }

    /// Processes a command of the signalling channel.
    mutating func note(_ payload: Span<UInt8>, _ direction: PacketTracer.Direction) {
        guard let command = try? SignallingCommand(decoding: payload) else { return }
        let data = ByteReader(command.data)
        switch SignallingCode(rawValue: command.code) {
        case .creditBasedConnectionRequest:
            guard let request = try? CreditBasedConnectionRequest(decoding: data), request.spsm == SPSM.enhancedATT
            else { return }
            if requests.count == Self.maximumRequests { requests.removeFirst() }
            requests.append(
                Request(direction: direction, identifier: command.identifier, sources: request.sources))
        case .creditBasedConnectionResponse:
            guard let response = try? CreditBasedConnectionResponse(decoding: data) else { return }
            opened(response, command.identifier, direction)
        case .disconnectionRequest:
            guard let request = try? DisconnectionRequest(decoding: data) else { return }
            close(request.destination, direction)
            close(request.source, direction.other)
        default: return
        }
    }

    private mutating func opened(
        _ response: CreditBasedConnectionResponse, _ identifier: UInt8, _ direction: PacketTracer.Direction
    ) {
        let index = requests.firstIndex { $0.identifier == identifier && $0.direction == direction.other }
        guard let index, !response.destinations.isEmpty else { return }
        let request = requests.remove(at: index)
        for (source, destination) in zip(request.sources, response.destinations) where destination.rawValue != 0 {
            // The response travels to the requester, so frames in its direction are addressed to the source channel.
            open(source, direction)
            open(destination, direction.other)
        }
    }

    private mutating func open(_ channel: ChannelIdentifier, _ direction: PacketTracer.Direction) {
        close(channel, direction)
        if ends.count == Self.maximumEnds { ends.removeFirst() }
        ends.append(End(direction: direction, channel: channel))
    }

    private mutating func close(_ channel: ChannelIdentifier, _ direction: PacketTracer.Direction) {
        ends.removeAll { $0.channel == channel && $0.direction == direction }
    }

    /// Processes the payload of a K-frame. Returns nil if its channel is not a bearer.
    mutating func take(
        _ payload: Span<UInt8>, to channel: ChannelIdentifier, _ direction: PacketTracer.Direction
    ) -> Content? {
        guard let index = ends.firstIndex(where: { $0.channel == channel && $0.direction == direction }) else {
            return nil
        }
        var start = 0
        if ends[index].missing == 0 {
            guard payload.count >= 2 else { return .malformed }
            ends[index].pdu = []
            ends[index].missing = Int(payload[0]) | Int(payload[1]) << 8
            start = 2
        }
        guard payload.count - start <= ends[index].missing else {
            ends[index].missing = 0
            return .malformed
        }
        payload.extracting(droppingFirst: start).withUnsafeBufferPointer { ends[index].pdu.append(contentsOf: $0) }
        ends[index].missing -= payload.count - start
        let length = ends[index].pdu.count
        guard ends[index].missing == 0 else { return .part("\(length) of \(length + ends[index].missing) bytes") }
        return .pdu(ends[index].pdu)
    }
}

extension PacketTracer.Direction {
    /// The opposite direction.
    var other: Self {
        switch self {
        case .hostToController: .controllerToHost
        case .controllerToHost: .hostToController
        }
    }
}
