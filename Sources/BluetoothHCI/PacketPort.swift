import BluetoothBase

/// The host's side of a controller in this process: packets in and out, and the time in which they pass.
///
/// A radio without hardware conforms to this, and so does anything else that wants to be a controller. Any thread may use
/// a port; one host at a time does.
public protocol PacketPort: Sendable {
    /// What errors call the port.
    var name: String { get }

    /// What tells this port from others: equal for copies of one.
    var identity: AnyHashable { get }

    /// Whether the controller is there.
    var isPluggedIn: Bool { get }

    /// The present, in the time the controller lives in.
    var now: Instant { get }

    /// Whether time passes only when somebody says so. Then the port gives its host its turns, on the thread that
    /// lets time pass or asks for a turn, and the host needs no thread of its own.
    var isTimeManual: Bool { get }

    /// When something happens at the controller by itself, which its host is to be there for.
    var nextDeadline: Instant? { get }

    /// Puts a host on the controller, in the place of one that is there. The port keeps it until it is detached.
    ///
    /// - Returns: what to detach it by.
    func attach(_ host: any PacketPortHost) -> UInt64

    /// Takes a host off: the controller is reset, as it would be for the next one. Does nothing where another has taken
    /// its place already.
    func detach(_ attachment: UInt64)

    /// Hands a packet to the controller, its H4 indicator first.
    func send(_ packet: Span<UInt8>)

    /// Lets everything happen that is due, and takes what the controller has for its host.
    ///
    /// - Parameter packets: an empty queue, whose memory is used again.
    func receive(into packets: inout PacketQueue)

    /// Lets a host take a turn, where time is manual: at once, or where hosts are taking turns already, behind those
    /// whose turn is next. Elsewhere it wakes the host.
    func requestTurn(of host: any PacketPortHost)
}

/// A host on a `PacketPort`.
public protocol PacketPortHost: AnyObject, Sendable {
    /// There is something to receive. Called on any thread, where time is not manual.
    func wake()

    /// The controller was unplugged. `wake`, or a turn, follows.
    func unplugged()

    /// Another host was attached in the place of this one, whose remaining packets must no longer reach the controller.
    /// Called with no lock held that `attach` or `detach` take.
    func displaced()

    /// Does everything that can be done at the present instant, where time is manual.
    ///
    /// - Returns: When the host next has something to do by itself.
    func takeTurn() -> Instant?
}

extension PacketPortHost {
    public func displaced() {}
}
