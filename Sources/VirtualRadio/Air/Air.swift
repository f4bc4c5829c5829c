import BluetoothBase
import BluetoothHCI

/// Identifies a controller on the air it was added to.
public struct ControllerID: Hashable, Sendable {
    @usableFromInline let index: Int

    init(index: Int) {
        self.index = index
    }
}

/// The radio environment that virtual controllers share, and its time.
///
/// Packets enter through `receive(_:from:at:)` and leave through each controller's `outbox`. Time advances through
/// `fire(at:)`, which must be called at `nextDeadline`. There is no clock, and the seed is the only source of
/// randomness: the same calls produce the same bytes. Nothing happens between two deadlines, so an idle air costs
/// nothing.
///
///     var air = Air(seed: 1)
///     let phone = air.addController(.init(publicAddress: address))
///     air.receive(packet, from: phone, at: now)
///     while let packet = air[phone].outbox.popFirst() { … }
public struct Air: Sendable {
    @usableFromInline var controllers: [VirtualController] = []
    /// The buffers of each controller, stored separately so that data moves from one controller's buffers straight into
    /// another one's outbox.
    var pools: [ACLBufferPool] = []
    var links: [AirLink] = []
    var propagation = Propagation()
    var schedule = Schedule()
    private var generator: SeededGenerator

    /// Creates an air without controllers. All pseudo-random bits derive from `seed`.
    public init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
    }

    /// Adds a controller, powered on and reset, well within range of all others.
    public mutating func addController(_ configuration: ControllerConfiguration) -> ControllerID {
        let index = controllers.count
        controllers.append(
            VirtualController(configuration, index: index, generator: SeededGenerator(seed: generator.next())))
        pools.append(
            ACLBufferPool(count: Int(configuration.aclBufferCount), length: Int(configuration.aclDataLength)))
        propagation.grow(to: controllers.count)
        return ControllerID(index: index)
    }

    /// The controller with an identifier: its outbox, its faults and its state.
    public subscript(id: ControllerID) -> VirtualController {
        @inlinable @inline(__always) _read { yield controllers[id.index] }
        @inlinable @inline(__always) _modify { yield &controllers[id.index] }
    }

    // MARK: - Time

    /// The instant at which to call `fire(at:)` next; nil if nothing is scheduled.
    public var nextDeadline: Instant? { schedule.nextDeadline }

    /// Performs everything that is due at `now`, each action at the instant it was due.
    public mutating func fire(at now: Instant) {
        while let (timer, due) = schedule.popFirst(at: now) {
            switch timer.concern {
            case .advertising, .advertisingSet: advertise(timer.advertiser.controller, timer.advertiser.slot, at: due)
            case .command: performNextCommand(on: timer.index, at: due)
            case .link: runLink(timer.index, at: due)
            case .scan: endScan(timer.index)
            case .periodic: advertisePeriodically(timer.periodic.controller, timer.periodic.slot, at: due)
            case .sync: loseSync(timer.sync.controller, timer.sync.place)
            }
        }
    }

    // MARK: - Bytes

    /// Receives a packet from the host of a controller, H4 indicator first. Invalid packets are ignored.
    public mutating func receive(_ packet: Span<UInt8>, from id: ControllerID, at now: Instant) {
        fire(at: now)
        guard controllers[id.index].isPresent, packet.count > 0 else { return }
        switch HCIPacketType(rawValue: packet[0]) {
        case .aclData: receiveData(packet.extracting(droppingFirst: 1), from: id.index, at: now)
        case .command: receiveCommand(packet, from: id.index, at: now)
        case .event, .synchronousData, .isoData, nil: break
        }
    }
}
