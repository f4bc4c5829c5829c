import BluetoothBase

/// One side of a bare bearer: packets, lines and time go in, packets and messages come out. It does no input or output.
protocol BearerUser {
    /// PDUs for the peer, oldest first. The loop takes them out.
    var outgoing: [[UInt8]] { get set }
    /// What the user is to be told on standard output. The loop takes them out.
    var lines: [String] { get set }
    /// What the user did wrong, for standard error. The loop takes them out.
    var complaints: [String] { get set }
    /// Whether there is nothing left to do.
    var isFinished: Bool { get }
    /// Whether the peer broke off a transaction, so that the bearer has to be closed.
    var isDead: Bool { get }
    /// When `fire` wants to be called.
    var nextDeadline: Instant? { get }

    mutating func begin(at now: Instant)
    mutating func receive(_ packet: [UInt8], at now: Instant)
    /// A line of standard input, without its end.
    mutating func enter(_ line: String, at now: Instant)
    mutating func fire(at now: Instant)
}
