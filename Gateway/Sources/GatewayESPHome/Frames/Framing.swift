/// A message on the wire: its number and its payload.
struct Frame: Equatable, Sendable {
    var type: MessageType
    var payload: [UInt8]

    init(_ type: MessageType, _ payload: [UInt8] = []) {
        self.type = type
        self.payload = payload
    }
}

/// Separates a client's stream into messages, and frames outgoing messages. There are two framings: unencrypted, and
/// encrypted with Noise.
protocol Framing: Sendable {
    /// The maximum payload length of a message to send, in octets.
    static var longestPayload: Int { get }

    /// Appends octets received from the client.
    mutating func append(_ octets: some Sequence<UInt8>)

    /// The next event in the received octets; nil if more octets are needed.
    ///
    /// - Throws: the reason why the client's connection must end.
    mutating func next() throws(ProtocolFailure) -> FramingEvent?

    /// Appends a message to the output. A message that is too long is not sent.
    mutating func send(_ frame: Frame, into output: inout [UInt8])
}

/// An event in the octets received from a client.
enum FramingEvent: Equatable, Sendable {
    case frame(Frame)
    /// Octets to send unchanged, which belong to the framing itself.
    case reply([UInt8])
}

/// The reason why a client's connection ends.
struct ProtocolFailure: Error, Equatable, Sendable {
    /// The reason for the log.
    var reason: String
    /// The octets to send to the client, in a form that it understands in its current state.
    var farewell: [UInt8]

    init(_ reason: String, farewell: [UInt8] = []) {
        self.reason = reason
        self.farewell = farewell
    }
}

/// The limits for messages from a client.
enum FrameLimits {
    /// The maximum message length. A write of 512 octets, or a client's name, is far shorter.
    static let payload = 4096
    /// The maximum frame length before the client has proved that it has the key.
    static let handshake = 256
}

/// Octets that were received and not consumed yet.
struct InputBuffer: Sendable {
    private var octets: [UInt8] = []
    private var start = 0

    var count: Int { octets.count - start }

    subscript(offset: Int) -> UInt8 { octets[start + offset] }

    mutating func append(_ new: some Sequence<UInt8>) {
        // Consumed octets are removed when more arrive, so each octet is moved at most once per call.
        if start > 0 {
            octets.removeFirst(start)
            start = 0
        }
        octets.append(contentsOf: new)
    }

    /// Consumes and returns `length` octets, after skipping some.
    mutating func take(_ length: Int, after skipped: Int = 0) -> [UInt8] {
        let first = start + skipped
        start = first + length
        return Array(octets[first..<start])
    }
}
