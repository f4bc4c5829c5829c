import BluetoothBase

/// The host's interface to a controller in this process. It transfers packets in both directions and provides the
/// controller's clock.
///
/// A simulated radio conforms to this protocol, as can any other controller implementation. Any thread may use a port,
/// but only one host at a time may be attached to it.
public protocol PacketPort: Sendable {
    /// The name of the port in errors.
    var name: String { get }

    /// The identity of the port. Copies of the same port have equal identities.
    var identity: AnyHashable { get }

    /// Whether the controller is present.
    var isPluggedIn: Bool { get }

    /// The current time of the controller's clock.
    var now: Instant { get }

    /// Whether time advances only on request. If so, the port gives its host turns, on the thread that advances the
    /// time or requests a turn, and the host needs no other thread.
    var isTimeManual: Bool { get }

    /// The time of the controller's next spontaneous action, at which the host must call `receive`. Nil if none is
    /// scheduled.
    var nextDeadline: Instant? { get }

    /// Attaches a host to the controller, replacing a host that is already attached. The port keeps a reference to the
    /// host until it is detached.
    ///
    /// - Returns: an identifier to pass to `detach`.
    func attach(_ host: any PacketPortHost) -> UInt64

    /// Detaches a host. The controller is reset, as it would be for the next host. Does nothing if another host has
    /// already replaced this one.
    func detach(_ attachment: UInt64)

    /// Sends a packet to the controller. The packet starts with its H4 indicator.
    func send(_ packet: Span<UInt8>)

    /// Processes everything that is due, and takes the packets that the controller has for its host.
    ///
    /// - Parameter packets: an empty queue, whose memory is reused.
    func receive(into packets: inout PacketQueue)

    /// If time is manual, lets a host take a turn: immediately, or, if hosts are already taking turns, after the hosts
    /// that are queued. Otherwise, wakes the host.
    func requestTurn(of host: any PacketPortHost)
}

/// A host that is attached to a `PacketPort`.
public protocol PacketPortHost: AnyObject, Sendable {
    /// Notifies the host that it should call `receive`. It is called on any thread, if time is not manual.
    func wake()

    /// Notifies the host that the controller was unplugged. A call of `wake`, or a turn, follows.
    func unplugged()

    /// Notifies the host that another host has replaced it. This host's remaining packets must no longer reach the
    /// controller. The caller holds none of the locks that `attach` and `detach` take.
    func displaced()

    /// Does all work that is possible at the current time. It is called if time is manual.
    ///
    /// - Returns: the time of the host's next scheduled work; nil if none is scheduled.
    func takeTurn() -> Instant?
}

extension PacketPortHost {
    /// Does nothing. A host that may still have packets to send when it is replaced must implement this method.
    public func displaced() {}
}
