import BluetoothATT
import BluetoothBase
import BluetoothGAP
import BluetoothGATT
import BluetoothHCI

/// One host for several users: it merges what they want, hands each what concerns it, and takes back everything of a user
/// that leaves.
///
/// Like `Host` it is a value without input or output. Packets, calls and time go in; packets for the controller collect in
/// `outbox` and events in a queue for each user. A caller lets a *turn* consist of any number of these and of one
/// `endTurn`, then hands each user its `batch` and calls `clearEvents`.
public struct SharedHost: Sendable {
    /// The host that is shared.
    public internal(set) var host: Host
    /// Whether anything can be done with the adapter, as the users know it.
    public internal(set) var status = AdapterStatus.opening

    var controllerFailure: HostFailure?
    var users: [UserRecord] = []
    /// By the slots of the links' identifiers. Read and changed in place, never copied: see `LinkTable`.
    var links: [LinkRecord] = []
    var connects = WantedConnections()
    var scans: [ScanRecord] = []
    var advertisements: [AdvertisementRecord] = []
    var services = PublishedServices()
    var names = PeerNames()
    /// The octets that events of this turn speak of.
    var arena = ByteWriter(reservingCapacity: 4096)

    /// A user, and what it is to be handed at the end of the turn.
    struct UserRecord: Sendable {
        let identifier: UserID
        var events: [UserEvent] = []
        var sightings: [Sighting] = []
    }

    /// How many values that are not answered each user may have on their way on each link.
    public static let sendCredit = 64

    public init(configuration: HostConfiguration) {
        var configuration = configuration
        // What users may send is limited by their credits; the host's own limit is only to hold for what is lost count of.
        configuration.sendQueueLimit = max(configuration.sendQueueLimit, 16 * Self.sendCredit)
        host = Host(configuration: configuration)
    }

    // MARK: - Driving it

    // What only reads is mutating as well: the compiler would copy all of this for it, where it is a property of a class.

    /// Hands the H4 packets for the controller, oldest first, to whoever sends them. What is taken out has been sent.
    public mutating func withOutbox<Failure>(
        _ body: (inout PacketQueue) throws(Failure) -> Void
    ) throws(Failure) {
        try body(&host.outbox)
    }

    /// Begins to bring a controller up.
    public mutating func start(at now: Instant) {
        host.start(at: now)
        drain(at: now)
    }

    /// Takes one H4 packet from the controller.
    public mutating func receive(_ packet: Span<UInt8>, at now: Instant) {
        host.receive(packet, at: now)
        if !host.events.isEmpty { drain(at: now) }
    }

    /// Lets everything happen that is due. Early calls do no harm.
    public mutating func fire(at now: Instant) {
        if let deadline = host.nextDeadline, deadline <= now { host.fire(at: now) }
        drain(at: now)
        if let deadline = connects.nextDeadline, deadline <= now { fireConnecting(at: now) }
    }

    /// When `fire(at:)` is to be called; nil while nothing is waited for.
    public var nextDeadline: Instant? { mutating get { earliest(host.nextDeadline, connects.nextDeadline) } }

    /// The controller is gone. Links and calls end, each with its event; services and advertising stay wanted.
    ///
    /// - Parameter isReported: whether the users hear of it; false for one that has never been ready.
    public mutating func controllerLost(at now: Instant, isReported: Bool = true) {
        let isNews = isReported && status != .lost
        if isReported { status = .lost }
        host.controllerLost(at: now)
        drain(at: now)
        guard isNews else { return }
        endActivities(.adapterRemoved)
        tellAll(.adapter(.lost))
    }

    /// Why the controller was given up, once; nil where it was not.
    public mutating func takeControllerFailure() -> HostFailure? {
        defer { controllerFailure = nil }
        return controllerFailure
    }

    /// The adapter cannot be opened, or is over: told by whoever opens it.
    public mutating func setStatus(_ status: AdapterStatus, at now: Instant) {
        guard self.status != status else { return }
        self.status = status
        tellAll(.adapter(status))
    }

    /// Whether anything can be done with the adapter, as the users know it, and what its controller can do.
    public mutating func currentStatus() -> AdapterStatus { status }
    public mutating func currentController() -> ControllerInformation? { host.controller }

    /// Ends a turn: gives back the credits of what has been sent.
    public mutating func endTurn(at now: Instant) {
        for slot in links.indices where links[slot].isInUse {
            settleCredits(slot)
            if links[slot].preparation.isWaiting { continuePreparation(slot, at: now) }
        }
        // What that has brought about.
        if !host.events.isEmpty { drain(at: now) }
    }

    /// How many users are attached.
    public var userCount: Int { mutating get { users.count } }

    /// Whether a user is attached.
    public mutating func isAttached(_ user: UserID) -> Bool { index(of: user) != nil }

    /// Whether there are events for any user.
    public var hasEvents: Bool { mutating get { users.contains { !$0.events.isEmpty } } }

    /// What a user is to be handed.
    public mutating func batch(for user: UserID) -> EventBatch? {
        guard let index = index(of: user), !users[index].events.isEmpty else { return nil }
        return EventBatch(
            user: user, events: users[index].events, sightings: users[index].sightings, arena: arena)
    }

    /// Forgets the events, when every user has been handed its batch.
    public mutating func clearEvents() {
        for index in users.indices {
            users[index].events.removeAll(keepingCapacity: true)
            if !users[index].sightings.isEmpty { users[index].sightings.removeAll(keepingCapacity: true) }
        }
        arena.removeAll()
    }

    // MARK: - Telling

    func index(of user: UserID) -> Int? { users.firstIndex { $0.identifier == user } }

    mutating func tell(_ event: UserEvent, to user: UserID) {
        guard let index = index(of: user) else { return }
        users[index].events.append(event)
    }

    mutating func tellAll(_ event: UserEvent) {
        for index in users.indices { users[index].events.append(event) }
    }

    mutating func end(_ call: UserCall, _ result: Result<CallResult, HostError>) {
        guard call.token != .none else { return }
        tell(.ended(call.token, result), to: call.user)
    }

    /// Keeps the octets of an event of the host's for an event of a user's.
    @inline(__always)
    mutating func keep(_ payload: Payload) -> Payload {
        host.events.copy(payload, to: &arena)
    }

    // MARK: - Links

    /// Where the record of a link is; nil where the link is gone.
    @inline(__always)
    func slot(of link: LinkIdentifier) -> Int? {
        let slot = Int(link.slot)
        guard slot < links.count, links[slot].isInUse, links[slot].identifier == link else { return nil }
        return slot
    }

    /// Why nothing can be asked of the adapter now; nil where it can.
    var refusal: HostError? {
        switch status {
        case .ready: nil
        case .lost, .closed: .adapterRemoved
        case .opening, .unavailable, .resetting: .notReady
        }
    }
}
