import BluetoothBase

/// Sends commands no faster than a controller accepts them, and matches answers to commands (Core 5.4, Vol 4, Part E,
/// 4.4).
///
/// Every command enqueued leaves exactly once: with a `CommandCompletion` from `receive`, or as an `AbandonedCommand`
/// from `popExpired` or `popAny`. Each carries a token chosen by the caller.
///
/// Host Number Of Completed Packets takes no credit and gets no answer, so it must not be enqueued.
public struct CommandQueue: Sendable {
    /// How many commands may be waiting to be sent.
    public let capacity: Int
    /// How long a controller may take to answer, unless a command specifies another time.
    public var timeout: Duration
    /// How many events answered no command in flight: late, repeated or unsolicited ones.
    public private(set) var unmatchedReplies: UInt64 = 0

    /// How many commands may be in flight: what the controller last reported, initially one (Vol 4, Part E, 4.4).
    private(set) var window = 1
    /// The time since when the controller has accepted no command although none is in flight.
    var stalledSince: Instant?
    /// Commands to be sent, in a ring of slots whose memory is reused.
    var slots: [Slot] = []
    var head = 0
    var waitingCount = 0
    /// Commands sent, oldest first.
    var inFlight: [Entry] = []

    struct Entry: Sendable {
        var opcode: HCIOpcode
        var token: UInt64
        var timeout: Duration
        /// When the command was enqueued; once it is sent, its deadline.
        var time: Instant
    }

    struct Slot: Sendable {
        var entry: Entry
        var packet: ByteWriter
    }

    /// - Parameters:
    ///   - capacity: how many commands may be waiting to be sent.
    ///   - timeout: how long a controller may take to answer.
    public init(capacity: Int = 64, timeout: Duration = .seconds(2)) {
        self.capacity = max(1, capacity)
        self.timeout = timeout
        slots.reserveCapacity(self.capacity)
        inFlight.reserveCapacity(8)
    }

    /// Whether no command is waiting or in flight.
    public var isEmpty: Bool { waitingCount == 0 && inFlight.isEmpty }

    /// How many commands are waiting to be sent.
    public var waiting: Int { waitingCount }

    // MARK: - Out

    /// Puts a command at the end of the queue. `transmit` sends it.
    ///
    /// - Parameters:
    ///   - token: what its completion will carry.
    ///   - timeout: how long the controller may take to answer, if not `self.timeout`.
    /// - Throws: if `capacity` commands are already waiting.
    public mutating func enqueue<Command: HCICommand>(
        _ command: Command, token: UInt64, timeout: Duration? = nil, at now: Instant
    ) throws(CommandQueueFull) {
        guard waitingCount < capacity else { throw CommandQueueFull() }
        let entry = Entry(opcode: Command.opcode, token: token, timeout: timeout ?? self.timeout, time: now)
        let index = (head + waitingCount) % capacity
        if index == slots.count {
            slots.append(Slot(entry: entry, packet: ByteWriter(reservingCapacity: 64)))
        } else {
            slots[index].entry = entry
            slots[index].packet.removeAll()
        }
        command.encodePacket(into: &slots[index].packet)
        waitingCount += 1
    }

    /// Moves as many commands to `outbox` as the controller accepts now.
    public mutating func transmit(into outbox: inout PacketQueue, at now: Instant) {
        while waitingCount > 0, inFlight.count < window {
            let slot = slots[head]
            outbox.append(slot.packet.span)
            var entry = slot.entry
            entry.time = now.advanced(by: entry.timeout)
            inFlight.append(entry)
            dropHead()
        }
        updateStall(at: now)
    }

    // MARK: - In

    /// Processes a Command Complete event.
    ///
    /// - Returns: the completion of the oldest command in flight with that opcode; nil if there is none.
    @_lifetime(copy event)
    public mutating func receive(_ event: borrowing CommandComplete, at now: Instant) -> CommandCompletion? {
        guard let entry = settle(event.opcode, window: event.numHCICommandPackets, at: now) else { return nil }
        // A missing status does not mean success.
        let status = event.status ?? .unspecifiedError
        return CommandCompletion(
            token: entry.token, opcode: entry.opcode, status: status, isComplete: true,
            returnParameters: event.returnParameters.extracting(droppingFirst: 1))
    }

    /// Processes a Command Status event.
    ///
    /// - Returns: the completion of the oldest command in flight with that opcode; nil if there is none.
    @_lifetime(immortal)
    public mutating func receive(_ event: CommandStatus, at now: Instant) -> CommandCompletion? {
        guard let entry = settle(event.opcode, window: event.numHCICommandPackets, at: now) else { return nil }
        return CommandCompletion(
            token: entry.token, opcode: entry.opcode, status: event.status, isComplete: false, returnParameters: Span())
    }

    /// Sets the window, which every such event reports, and removes the oldest command in flight with an opcode.
    private mutating func settle(_ opcode: HCIOpcode, window: UInt8, at now: Instant) -> Entry? {
        self.window = Int(window)
        defer { updateStall(at: now) }
        guard opcode != .none else { return nil }
        guard let index = inFlight.firstIndex(where: { $0.opcode == opcode }) else {
            unmatchedReplies &+= 1
            return nil
        }
        return inFlight.remove(at: index)
    }

    // MARK: - Shared with the other file

    mutating func dropHead() {
        waitingCount -= 1
        // An empty ring starts over at its first slots, whose memory is already allocated.
        head = waitingCount == 0 ? 0 : (head + 1) % capacity
    }

    mutating func updateStall(at now: Instant) {
        if window == 0, inFlight.isEmpty {
            if stalledSince == nil { stalledSince = now }
        } else {
            stalledSince = nil
        }
    }

    /// Returns to the initial state, in which the controller accepts one command. No command may be waiting or in
    /// flight: remove them with `popAny` first.
    mutating func restart() {
        window = 1
        head = 0
        stalledSince = nil
    }
}
