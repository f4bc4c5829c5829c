import BluetoothBase

extension CommandQueue {
    /// The time at which the next command times out, unless an event arrives before; nil if no command is waiting for
    /// the controller.
    public var nextDeadline: Instant? {
        var deadline: Instant?
        for entry in inFlight { deadline = earliest(deadline, entry.time) }
        return earliest(deadline, headDeadline)
    }

    /// Removes and returns one command that has timed out, whether or not it was sent. Returns nil if no command has
    /// timed out. Call it until it returns nil.
    ///
    /// A command that was sent but not answered no longer counts as in flight, so the next one may be sent. If the
    /// controller is dead, each command times out in turn, so the caller should reset the controller instead.
    public mutating func popExpired(at now: Instant) -> AbandonedCommand? {
        if let index = inFlight.firstIndex(where: { $0.time <= now }) {
            let entry = inFlight.remove(at: index)
            updateStall(at: now)
            return AbandonedCommand(token: entry.token, opcode: entry.opcode)
        }
        guard let headDeadline, headDeadline <= now else { return nil }
        return popWaiting()
    }

    /// Removes and returns one command, whether or not it was sent, oldest first. If no command is left, resets the
    /// queue to its initial state and returns nil. Use this for a controller that is being reset or has been
    /// unplugged: call it until it returns nil.
    public mutating func popAny() -> AbandonedCommand? {
        if !inFlight.isEmpty {
            let entry = inFlight.removeFirst()
            return AbandonedCommand(token: entry.token, opcode: entry.opcode)
        }
        if waitingCount > 0 { return popWaiting() }
        restart()
        return nil
    }

    /// Removes and returns one unsent command for a connection, oldest first. Returns nil if no such command is queued.
    /// Use this when a connection has ended, because a new connection may have the same handle by the time the command
    /// would be sent.
    public mutating func popWaiting(for connection: ConnectionHandle) -> AbandonedCommand? {
        for offset in 0..<waitingCount {
            let place = (head + offset) % capacity
            guard concerns(place, connection) else { continue }
            let entry = slots[place].entry
            for next in (offset + 1)..<waitingCount {
                slots.swapAt((head + next - 1) % capacity, (head + next) % capacity)
            }
            waitingCount -= 1
            if waitingCount == 0 { head = 0 }
            return AbandonedCommand(token: entry.token, opcode: entry.opcode)
        }
        return nil
    }

    private func concerns(_ place: Int, _ connection: ConnectionHandle) -> Bool {
        let packet = slots[place].packet
        return packet.span.isCommand(for: connection)
    }

    /// Removes and returns the last sent command with an opcode, whose packet must still be in the outbox. Returns nil
    /// if no such command is in flight.
    public mutating func takeBack(_ opcode: HCIOpcode, at now: Instant) -> AbandonedCommand? {
        guard let index = inFlight.lastIndex(where: { $0.opcode == opcode }) else { return nil }
        let entry = inFlight.remove(at: index)
        updateStall(at: now)
        return AbandonedCommand(token: entry.token, opcode: entry.opcode)
    }

    private mutating func popWaiting() -> AbandonedCommand {
        let entry = slots[head].entry
        dropHead()
        return AbandonedCommand(token: entry.token, opcode: entry.opcode)
    }

    /// The time at which the first command in the queue times out. A command may wait for its turn without limit. But
    /// if the controller accepts no commands, it waits only as long as it would for an answer.
    private var headDeadline: Instant? {
        guard let stalledSince, waitingCount > 0 else { return nil }
        let entry = slots[head].entry
        return max(entry.time, stalledSince).advanced(by: entry.timeout)
    }
}

extension Span<UInt8> {
    /// The opcode of a command packet; nil for other packets.
    public var commandOpcode: HCIOpcode? {
        guard count >= 4, self[0] == HCIPacketType.command.rawValue else { return nil }
        return HCIOpcode(rawValue: UInt16(self[1]) | UInt16(self[2]) << 8)
    }

    /// Returns whether this is a command packet whose first parameter is the handle of this connection.
    public func isCommand(for connection: ConnectionHandle) -> Bool {
        guard count >= 6, commandOpcode?.concernsConnection == true else { return false }
        return ConnectionHandle(rawValue: UInt16(self[4]) | UInt16(self[5] & 0x0F) << 8) == connection
    }
}

extension HCIOpcode {
    /// Whether the command's first parameter is a connection handle.
    var concernsConnection: Bool {
        switch self {
        case .disconnect, .readRemoteVersionInformation, .readTransmitPowerLevel, .readRSSI, .leConnectionUpdate,
            .leReadChannelMap, .leReadRemoteFeatures, .leEnableEncryption, .leLongTermKeyRequestReply,
            .leLongTermKeyRequestNegativeReply, .leRemoteConnectionParameterRequestReply,
            .leRemoteConnectionParameterRequestNegativeReply, .leSetDataLength, .leReadPHY, .leSetPHY,
            .lePeriodicAdvertisingSyncTransfer, .lePeriodicAdvertisingSetInfoTransfer,
            .leSetPeriodicAdvertisingSyncTransferParameters,
            .leEnhancedReadTransmitPowerLevel, .leReadRemoteTransmitPowerLevel, .leSetPathLossReportingParameters,
            .leSetPathLossReportingEnable, .leSetTransmitPowerReportingEnable:
            true
        default: false
        }
    }
}
