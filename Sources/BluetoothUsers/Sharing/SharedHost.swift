import BluetoothATT
import BluetoothBase
import BluetoothGAP
import BluetoothGATT
import BluetoothHCI
import BluetoothHost

/// One host for several users. It merges their requests, gives each user its events, and undoes everything that a user
/// requested when that user leaves.
///
/// Like `Host`, it is a value that performs no input or output itself. The caller passes in packets, calls and the
/// time. Packets for the controller collect in `outbox`, and events in one queue per user. A *turn* consists of any
/// number of inputs followed by one `endTurn`. The caller then takes the packets, and delivers the users' events
/// with `deliverEvents(to:)`.
public struct SharedHost: Sendable {
    /// The underlying host.
    public internal(set) var host: Host
    /// The adapter's status as reported to the users.
    public internal(set) var status = AdapterStatus.opening {
        didSet { statusChanges &+= 1 }
    }
    /// How often the status was set. Two turns with the same number have the same status and the same controller.
    public private(set) var statusChanges: UInt32 = 0

    /// The consequence of everything that was handled in this turn. Unless it is `none`, links may have work at the end
    /// of the turn.
    var work = HostConsequence.any
    var controllerFailure: HostFailure?
    /// The users, with their events until the end of the turn.
    var users: [UserQueue] = []
    /// What a user receives at the end of the turn; empty otherwise. A property, because a local variable would have to
    /// be released.
    private var delivery = EventBatch(user: UserID(number: 0))
    /// Indexed by the slots of link identifiers. Accessed in place and never copied: see `LinkTable`.
    var links: [LinkRecord] = []
    var connects = WantedConnections()
    var shortLivedLinks = ShortLivedLinks()
    var scans = SharedScans()
    var advertisements: [AdvertisementRecord] = []
    var advertisingSets: [AdvertisingSetRecord] = []
    var syncs: [SyncRecord] = []
    var services = PublishedServices()
    /// The user that offers each channel service, by SPSM.
    var channelOwners: [UInt16: UserID] = [:]
    /// The most recent SDUs, until they are passed to their user.
    var arrivals: Arrivals?
    var names = PeerNames()
    /// The attributes discovered on peers without a bond.
    var attributes = PeerAttributes()
    /// The user that answers pairing questions for the person.
    var pairingAgent: PairingAgentRecord?
    /// The user that decides who may read the key material of encrypted advertising data.
    var keyMaterialUser: UserID?
    /// Bond changes that the caller must store.
    var bondRequests = BondRequests()
    /// The links on which waiting calls may start.
    var turnsDue: [LinkIdentifier] = []

    /// The maximum number of values that each user may have in flight on each link.
    public static let sendCredit = 64

    /// Creates a host without users that has not started yet.
    ///
    /// - Parameter configuration: the settings. `sendQueueLimit` is raised to at least 16 times `sendCredit`.
    public init(configuration: HostConfiguration) {
        var configuration = configuration
        // Credits limit what users send. The host's own limit is only a backstop.
        configuration.sendQueueLimit = max(configuration.sendQueueLimit, 16 * Self.sendCredit)
        host = Host(configuration: configuration)
    }

    // MARK: - Driving the host

    // Even reads are mutating: for a property of a class, the compiler would otherwise copy the entire value.

    /// Passes the H4 packets for the controller to `body`, oldest first. Packets that it removes count as sent.
    public mutating func withOutbox<Failure>(
        _ body: (inout PacketQueue) throws(Failure) -> Void
    ) throws(Failure) {
        try body(&host.outbox)
    }

    /// Whether packets wait for the controller.
    public var hasOutput: Bool { mutating get { !host.outbox.isEmpty } }

    /// Starts to initialize a controller.
    public mutating func start(at now: Instant) {
        work = .any
        host.start(at: now)
        drain(at: now)
    }

    /// Handles one H4 packet from the controller.
    public mutating func receive(_ packet: Span<UInt8>, at now: Instant) {
        host.receive(packet, at: now)
        work.add(host.consequence)
        if let value = host.events.takeNotification() { received(value, at: now) }
        if !host.events.isEmpty { drain(at: now) }
        if !turnsDue.isEmpty { beginDueCalls(at: now) }
    }

    /// Handles everything that is due. Calling it early is harmless.
    public mutating func fire(at now: Instant) {
        work = .any
        if let deadline = host.nextDeadline, deadline <= now { host.fire(at: now) }
        drain(at: now)
        if let deadline = nextConnectDeadline, deadline <= now { fireConnecting(at: now) }
        if !turnsDue.isEmpty { beginDueCalls(at: now) }
    }

    /// When `fire(at:)` must be called; nil if there is no deadline.
    public var nextDeadline: Instant? { mutating get { earliest(host.nextDeadline, nextConnectDeadline) } }

    /// The time at which `fire(at:)` must be called, given the result for the last turn: `nextDeadline` or, because
    /// calculating that for each request costs too much, an earlier time.
    public mutating func deadline(after last: Instant?, at now: Instant) -> Instant? {
        defer { work = .none }
        switch work {
        case .none, .sending: return last
        case .waiting:
            if let last, last <= Instant(nanoseconds: now.nanoseconds &+ Self.transactionTimeout) { return last }
            return nextDeadline
        case .any: return nextDeadline
        }
    }

    /// The timeout of an attribute request, in nanoseconds. A constant: converting a duration takes 40 instructions.
    private static let transactionTimeout = UInt64(ATTBearer.transactionTimeout.nanoseconds)

    /// Handles the loss of the controller. Links and calls end, each with its event. Services and advertising remain
    /// requested.
    ///
    /// - Parameter isReported: whether to report the loss to users; false if the controller was never ready.
    public mutating func controllerLost(at now: Instant, isReported: Bool = true) {
        work = .any
        let isNews = isReported && status != .lost
        if isReported { status = .lost }
        host.controllerLost(at: now)
        drain(at: now)
        guard isNews else { return }
        endActivities(.adapterRemoved)
        tellAll(.adapter(.lost))
    }

    /// Returns the failure of the controller, once; nil if it has not failed.
    public mutating func takeControllerFailure() -> HostFailure? {
        defer { controllerFailure = nil }
        return controllerFailure
    }

    /// Sets the status, because the adapter cannot be opened or was closed. The owner of the transport calls this.
    public mutating func setStatus(_ status: AdapterStatus, at now: Instant) {
        guard self.status != status else { return }
        self.status = status
        tellAll(.adapter(status))
    }

    /// The adapter's status as reported to the users.
    public mutating func currentStatus() -> AdapterStatus { status }

    /// How often the status was set, read in place.
    public mutating func currentStatusChanges() -> UInt32 { statusChanges }

    /// The properties of the controller; nil while no controller is up.
    public mutating func currentController() -> ControllerInformation? { host.controller }

    /// Ends a turn, and returns the credits of sent values.
    public mutating func endTurn(at now: Instant) {
        tellPending()
        // Received values and data of channels return no credits and begin no preparation.
        guard work != .none else { return }
        for index in links.indices where links[index].isInUse {
            let slot = LinkSlot(index: index)
            settleCredits(slot)
            if !links[slot.index].channels.isEmpty { settleChannelCredits(slot) }
            prepare(slot, at: now)
        }
        // Handle the events caused by the steps above.
        if !host.events.isEmpty { drain(at: now) }
        if !turnsDue.isEmpty {
            beginDueCalls(at: now)
            // Writes that no longer concern an attribute of the peer have returned their credits.
            for index in links.indices where links[index].isInUse { tellReturnedCredits(LinkSlot(index: index)) }
        }
        tellPending()
    }

    /// The number of attached users.
    public var userCount: Int { mutating get { users.count } }

    /// Whether a user is attached.
    public mutating func isAttached(_ user: UserID) -> Bool { index(of: user) != nil }

    /// Passes the events of each user to `body`, in the order in which the users attached, and removes them together
    /// with their octets and sightings. Users without events are skipped. Call this after every turn.
    public mutating func deliverEvents(to body: (borrowing EventBatch) -> Void) {
        deliverEvents { _, batch in body(batch) }
    }

    /// Delivers the events like `deliverEvents(to:)`.
    ///
    /// - Parameter body: also receives the number of users that attached before and are still attached.
    package mutating func deliverEvents(_ body: (_ rank: Int, borrowing EventBatch) -> Void) {
        host.events.exchangeBytes(with: &delivery.octets)
        scans.exchangeSightings(with: &delivery.sightings)
        delivery.earlierSightings = scans.earlierSightings
        for rank in users.indices where !users[rank].events.isEmpty {
            delivery.user = users[rank].user
            swap(&delivery.events, &users[rank].events)
            body(rank, delivery)
            delivery.events.clear()
            swap(&delivery.events, &users[rank].events)
        }
        host.events.exchangeBytes(with: &delivery.octets)
        scans.exchangeSightings(with: &delivery.sightings)
        scans.clearSightings()
        host.events.releaseBytes()
    }

    // MARK: - Delivering events

    func index(of user: UserID) -> Int? { users.index(of: user, near: 0) }

    /// Reports what is collected during a turn, so that it precedes the next event: sightings, and data of channels.
    @inline(__always)
    mutating func tellPending() {
        if scans.haveFound { scans.tellSightings(to: &users) }
        if let arrivals { tell(arrivals) }
    }

    mutating func tell(_ event: consuming UserEvent, to user: UserID) {
        guard let index = index(of: user) else { return }
        tellPending()
        users[index].events.append(event)
    }

    mutating func tellAll(_ event: UserEvent) {
        tellPending()
        for index in users.indices { users[index].events.append(event) }
    }

    // Consuming: the result is moved into the event.
    mutating func end(_ call: UserCall, _ result: consuming Result<CallResult, HostError>) {
        if let link = call.turn { turnEnded(call, on: link) }
        guard call.token != .none else { return }
        tell(.ended(call.token, result), to: call.user)
    }

    // MARK: - Links

    /// The slot of a link; nil if the link has ended.
    @inline(__always)
    func slot(of link: LinkIdentifier) -> LinkSlot? {
        let index = Int(link.slot)
        guard index < links.count, links[index].isInUse, links[index].identifier == link else { return nil }
        return LinkSlot(index: index)
    }

    /// Every slot, used or free.
    var slots: LinkSlots { LinkSlots(count: links.count) }

    /// Why the adapter cannot be used now; nil if it can.
    var refusal: HostError? {
        switch status {
        case .ready: nil
        case .lost, .closed: .adapterRemoved
        case .opening, .unavailable, .resetting: .notReady
        }
    }
}

/// The events of one user until the end of the turn.
struct UserQueue: Sendable {
    let user: UserID
    var events: [UserEvent] = []
}

extension [UserQueue] {
    /// The index of a user. The index `start` is tried first.
    @inline(__always)
    func index(of user: UserID, near start: Int) -> Int? {
        if start < count, self[start].user == user { return start }
        return firstIndex { $0.user == user }
    }
}
