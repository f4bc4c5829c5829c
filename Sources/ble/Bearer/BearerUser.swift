import BluetoothBase

/// One side of a bare bearer. It receives packets, lines and the time, and produces packets and messages. It performs
/// no input or output.
protocol BearerUser {
    /// PDUs for the peer, oldest first. The loop removes them.
    var outgoing: [[UInt8]] { get set }
    /// Lines for standard output. The loop removes them.
    var lines: [String] { get set }
    /// Error messages for standard error. The loop removes them.
    var complaints: [String] { get set }
    /// Whether there is nothing left to do.
    var isFinished: Bool { get }
    /// Whether a transaction failed, so that the bearer must be closed.
    var isDead: Bool { get }
    /// The time at which `fire` must be called.
    var nextDeadline: Instant? { get }

    mutating func begin(at now: Instant)
    mutating func receive(_ packet: [UInt8], at now: Instant)
    /// Handles a line of standard input, without its line feed.
    mutating func enter(_ line: String, at now: Instant)
    mutating func fire(at now: Instant)
}
