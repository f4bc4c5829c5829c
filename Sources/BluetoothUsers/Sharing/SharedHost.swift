import BluetoothATT
import BluetoothBase
import BluetoothGAP
import BluetoothGATT
import BluetoothHCI
import BluetoothHost

/// One host for several users: it merges their requests, gives each its events, and undoes everything of a user that
/// leaves.
///
/// Like `Host` it is a value without input or output. Packets, calls and time go in; packets for the controller collect in
/// `outbox` and events in a queue for each user. A caller lets a *turn* consist of any number of these and of one
/// `endTurn`, then hands each user its `batch` and calls `clearEvents`.
public struct SharedHost: Sendable {
    /// The shared host.
    public internal(set) var host: Host
    /// The adapter's status as reported to the users.
    public internal(set) var status = AdapterStatus.opening

    var controllerFailure: HostFailure?
    var users: [UserRecord] = []
    /// By the slots of the links' identifiers. Read and changed in place, never copied: see `LinkTable`.
    var links: [LinkRecord] = []
    var connects = WantedConnections()
    var shortLivedLinks = ShortLivedLinks()
    var scans: [ScanRecord] = []
    var advertisements: [AdvertisementRecord] = []
    var advertisingSets: [AdvertisingSetRecord] = []
    var syncs: [SyncRecord] = []
    var services = PublishedServices()
    /// Who offers which service over channels, by SPSM.
    var channelOwners: [UInt16: UserID] = [:]
    var names = PeerNames()
    /// What was discovered of peers without a bond.
    var attributes = PeerAttributes()
    /// Who answers for the person in pairing.
    var pairingAgent: PairingAgentRecord?
    /// Who decides about the key material of encrypted advertising data.
    var keyMaterialUser: UserID?
    /// Changes of bonds for the caller to store.
    var bondRequests = BondRequests()
    /// The links on which calls may begin that waited for their turn.
    var turnsDue: [LinkIdentifier] = []

    /// A user, and its events for the end of the turn.
    struct UserRecord: Sendable {
        let identifier: UserID
        var events: [UserEvent] = []
        var sightings: [Sighting] = []
    }

    /// How many unacknowledged values each user may have in flight on each link.
    public static let sendCredit = 64

    public init(configuration: HostConfiguration) {
        var configuration = configuration
        // Credits limit what users send. The host's own limit is only a backstop.
        configuration.sendQueueLimit = max(configuration.sendQueueLimit, 16 * Self.sendCredit)
        host = Host(configuration: configuration)
    }

    // MARK: - Driving it

    // Reads are mutating as well: in a property of a class, the compiler would copy all of this for them.

    /// Gives the H4 packets for the controller, oldest first, to the sender. Packets taken out count as sent.
    public mutating func withOutbox<Failure>(
        _ body: (inout PacketQueue) throws(Failure) -> Void
    ) throws(Failure) {
        try body(&host.outbox)
    }

    /// Starts to bring up a controller.
    public mutating func start(at now: Instant) {
        host.start(at: now)
        drain(at: now)
    }

    /// Handles one H4 packet from the controller.
    public mutating func receive(_ packet: Span<UInt8>, at now: Instant) {
        host.receive(packet, at: now)
        if !host.events.isEmpty { drain(at: now) }
        if !turnsDue.isEmpty { beginDueCalls(at: now) }
    }

    /// Does everything that is due. Early calls are harmless.
    public mutating func fire(at now: Instant) {
        if let deadline = host.nextDeadline, deadline <= now { host.fire(at: now) }
        drain(at: now)
        if let deadline = nextConnectDeadline, deadline <= now { fireConnecting(at: now) }
        if !turnsDue.isEmpty { beginDueCalls(at: now) }
    }

    /// When `fire(at:)` must be called; nil if nothing is due.
    public var nextDeadline: Instant? { mutating get { earliest(host.nextDeadline, nextConnectDeadline) } }

    /// The controller is gone. Links and calls end, each with its event; services and advertising stay requested.
    ///
    /// - Parameter isReported: whether to report it to the users; false for one that was never ready.
    public mutating func controllerLost(at now: Instant, isReported: Bool = true) {
        let isNews = isReported && status != .lost
        if isReported { status = .lost }
        host.controllerLost(at: now)
        drain(at: now)
        guard isNews else { return }
        endActivities(.adapterRemoved)
        tellAll(.adapter(.lost))
    }

    /// Why the controller was given up, once; nil if it was not.
    public mutating func takeControllerFailure() -> HostFailure? {
        defer { controllerFailure = nil }
        return controllerFailure
    }

    /// The adapter cannot be opened, or is closed: its opener reports this.
    public mutating func setStatus(_ status: AdapterStatus, at now: Instant) {
        guard self.status != status else { return }
        self.status = status
        tellAll(.adapter(status))
    }

    /// The adapter's status as reported to the users, and what its controller can do.
    public mutating func currentStatus() -> AdapterStatus { status }
    public mutating func currentController() -> ControllerInformation? { host.controller }

    /// Ends a turn: returns the credits of sent values.
    public mutating func endTurn(at now: Instant) {
        for slot in slots where links[slot.index].isInUse {
            settleCredits(slot)
            if !links[slot.index].channels.isEmpty { settleChannelCredits(slot) }
            prepare(slot, at: now)
        }
        // The events that this caused.
        if !host.events.isEmpty { drain(at: now) }
        if !turnsDue.isEmpty { beginDueCalls(at: now) }
    }

    /// How many users are attached.
    public var userCount: Int { mutating get { users.count } }

    /// Whether a user is attached.
    public mutating func isAttached(_ user: UserID) -> Bool { index(of: user) != nil }

    /// Whether there are events for any user.
    public var hasEvents: Bool { mutating get { users.contains { !$0.events.isEmpty } } }

    /// The events for a user.
    public mutating func batch(for user: UserID) -> EventBatch? {
        guard let index = index(of: user), !users[index].events.isEmpty else { return nil }
        return EventBatch(
            user: user, events: users[index].events, sightings: users[index].sightings,
            octets: host.events.storage)
    }

    /// Removes the events and their octets, after every user got its batch, and also after a turn without events for users.
    public mutating func clearEvents() {
        for index in users.indices {
            users[index].events.removeAll(keepingCapacity: true)
            if !users[index].sightings.isEmpty { users[index].sightings.removeAll(keepingCapacity: true) }
        }
        host.events.releaseBytes()
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
        if let link = call.turn { turnEnded(call, on: link) }
        guard call.token != .none else { return }
        tell(.ended(call.token, result), to: call.user)
    }

    // MARK: - Links

    /// The index of the record of a link; nil if the link is gone.
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
