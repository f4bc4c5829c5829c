import BluetoothBase

/// Sends commands no faster than a controller accepts them, and matches answers to commands (Core 5.4, Vol 4, Part E,
/// 4.4).
///
/// Every enqueued command leaves the queue exactly once: with a `CommandCompletion` from `receive`, or as an
/// `AbandonedCommand` from one of the other methods, such as `popExpired` or `popAny`. Both contain the token that the
/// caller has chosen.
///
/// Host Number Of Completed Packets needs no credit and is not answered, so it must not be enqueued.
public struct CommandQueue: Sendable {
    /// The maximum number of commands waiting to be sent.
    public let capacity: Int
    /// The time within which the controller must answer, unless a command specifies another timeout.
    public var timeout: Duration
    /// The number of late, repeated or unsolicited events that matched no command in flight.
    public private(set) var unmatchedReplies: UInt64 = 0

    /// The number of commands that may be in flight, as last reported by the controller; initially one (Vol 4, Part E,
    /// 4.4).
    private(set) var window = 1
    /// The time since which the controller has accepted no commands although none is in flight.
    var stalledSince: Instant?
    /// The commands waiting to be sent, in a ring of slots whose memory is reused.
    var slots: [Slot] = []
    var head = 0
    var waitingCount = 0
    /// The commands in flight, oldest first.
    var inFlight: [Entry] = []

    struct Entry: Sendable {
        var opcode: HCIOpcode
        var token: UInt64
        var timeout: Duration
        /// The time at which the command was enqueued. Once the command is sent, its deadline.
        var time: Instant
    }

    struct Slot: Sendable {
        var entry: Entry
        var packet: ByteWriter
    }

    /// Creates an empty queue.
    ///
    /// - Parameters:
    ///   - capacity: the maximum number of commands waiting to be sent.
    ///   - timeout: the time within which the controller must answer.
    public init(capacity: Int = 64, timeout: Duration = .seconds(2)) {
        self.capacity = max(1, capacity)
        self.timeout = timeout
        slots.reserveCapacity(self.capacity)
        inFlight.reserveCapacity(8)
    }

    /// Whether no command is waiting or in flight.
    public var isEmpty: Bool { waitingCount == 0 && inFlight.isEmpty }

    /// The number of commands waiting to be sent.
    public var waiting: Int { waitingCount }

    // MARK: - Sending

    /// Adds a command to the end of the queue. `transmit` sends it.
    ///
    /// - Parameters:
    ///   - token: the token to pass in the command's completion.
    ///   - timeout: the time within which the controller must answer; nil for `self.timeout`.
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

    /// Moves the commands that the controller can accept now to `outbox`.
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

    // MARK: - Receiving

    /// Processes a Command Complete event.
    ///
    /// - Returns: the completion of the oldest command in flight with that opcode; nil if no such command is in flight.
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
    /// - Returns: the completion of the oldest command in flight with that opcode; nil if no such command is in flight.
    @_lifetime(immortal)
    public mutating func receive(_ event: CommandStatus, at now: Instant) -> CommandCompletion? {
        guard let entry = settle(event.opcode, window: event.numHCICommandPackets, at: now) else { return nil }
        return CommandCompletion(
            token: entry.token, opcode: entry.opcode, status: event.status, isComplete: false, returnParameters: Span())
    }

    /// Updates the window, which each of these events reports, and removes the oldest command in flight with an opcode.
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

    // MARK: - Shared with CommandQueue+Abandoning

    mutating func dropHead() {
        waitingCount -= 1
        // An empty ring starts over at its first slot, whose memory is already allocated.
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
