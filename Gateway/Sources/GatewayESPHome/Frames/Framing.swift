/// A message as it travels: its number, and its octets.
struct Frame: Equatable, Sendable {
    var type: MessageType
    var payload: [UInt8]

    init(_ type: MessageType, _ payload: [UInt8] = []) {
        self.type = type
        self.payload = payload
    }
}

/// How messages are cut out of a client's stream and put into it. There are two: in the clear, and encrypted by Noise.
protocol Framing: Sendable {
    /// The most octets of a message that can be sent.
    static var longestPayload: Int { get }

    /// Takes in what has come.
    mutating func append(_ octets: some Sequence<UInt8>)

    /// The next thing that follows from what has come; nil if more has to come first.
    ///
    /// - Throws: why the client's connection has to end.
    mutating func next() throws(ProtocolFailure) -> FramingEvent?

    /// Puts a message behind what is to be sent. One that is too long is not sent.
    mutating func send(_ frame: Frame, into output: inout [UInt8])
}

/// What follows from a client's octets.
enum FramingEvent: Equatable, Sendable {
    case frame(Frame)
    /// Octets that are to be sent as they are: the framing's own business.
    case reply([UInt8])
}

/// Why a client's connection ends.
struct ProtocolFailure: Error, Equatable, Sendable {
    /// For the log.
    var reason: String
    /// What the client is told, as octets that it understands in the state it is in.
    var farewell: [UInt8]

    init(_ reason: String, farewell: [UInt8] = []) {
        self.reason = reason
        self.farewell = farewell
    }
}

/// The bounds of what a client may send.
enum FrameLimits {
    /// The longest message: a write of 512 octets, or a client's own name, is far shorter.
    static let payload = 4096
    /// The longest frame before the client has proved to have the key.
    static let handshake = 256
}

/// Octets that have come and are not used yet.
struct InputBuffer: Sendable {
    private var octets: [UInt8] = []
    private var start = 0

    var count: Int { octets.count - start }

    subscript(offset: Int) -> UInt8 { octets[start + offset] }

    mutating func append(_ new: some Sequence<UInt8>) {
        // What was used goes before more comes, so each octet is moved at most once for each piece that comes.
        if start > 0 {
            octets.removeFirst(start)
            start = 0
        }
        octets.append(contentsOf: new)
    }

    /// Takes out so many octets, after leaving out others.
    mutating func take(_ length: Int, after skipped: Int = 0) -> [UInt8] {
        let first = start + skipped
        start = first + length
        return Array(octets[first..<start])
    }
}
