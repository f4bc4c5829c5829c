import BluetoothBase
import BluetoothHCI

/// Host flow control: how a host limits the data that a controller sends it (Core 5.4, Vol 4, Part E, 4.2).
///
/// If a host has no free buffer, its controller accepts no data from the air. The data stays in the sending
/// controller's buffers, and its host learns later that they are free. A link that is held back therefore uses no extra
/// memory and sets no timer.
extension Air {
    /// Receives Host Number Of Completed Packets (7.3.40). The command needs no command credit, does not wait for other
    /// commands, and is answered only on failure. Packets of a link that has ended already count as completed, and are
    /// not counted again.
    ///
    /// - Returns: false if the packet is a different command, or if this controller does not support the command.
    mutating func receiveHostCredits(_ packet: Span<UInt8>, from index: Int, at now: Instant) -> Bool {
        guard let command = try? HCICommandPacket(decoding: packet), command.opcode == .hostNumberOfCompletedPackets,
            controllers[index].supportedCommands.contains(command.opcode)
        else { return false }
        let status = completeHostPackets(command, on: index)
        resumeHeldLinks(of: index, at: now)
        if status != .success, !controllers[index].faults.ignoresCommands, controllers[index].hasRoomForAnswers {
            controllers[index].refuse(command.opcode, status)
        }
        return true
    }

    private mutating func completeHostPackets(_ command: borrowing HCICommandPacket, on index: Int) -> HCIStatus {
        // Read one by one, because a list of the links would allocate memory for each of these frequent commands.
        var reader = ByteReader(command.parameters)
        guard let linkCount = try? reader.readUInt8(), reader.remaining == 4 * Int(linkCount) else {
            return .invalidCommandParameters
        }
        guard controllers[index].settings.hostBuffers.isFlowControlled else { return .commandDisallowed }
        while let handle = try? reader.readUInt16(), let count = try? reader.readUInt16() {
            guard let (link, role) = find(ConnectionHandle(handle), on: index) else { continue }
            let isRight = controllers[index].settings.hostBuffers.giveBack(Int(count), of: &links[link][role])
            guard isRight else { return .invalidCommandParameters }
        }
        return .success
    }

    /// Holds a link back until the receiver's host has a free buffer.
    mutating func hold(_ sender: LinkRole, of link: Int) {
        links[link][sender].awaitsHost = true
        controllers[links[link][sender.other].controller].settings.hostBuffers.isAwaited = true
    }

    /// Resumes the links that wait for a buffer of this controller's host, if one is free.
    mutating func resumeHeldLinks(of index: Int, at now: Instant) {
        let buffers = controllers[index].settings.hostBuffers
        guard buffers.isAwaited, buffers.hasRoom else { return }
        controllers[index].settings.hostBuffers.isAwaited = false
        for link in links.indices where links[link].isInUse {
            guard let sender = links[link].role(of: index)?.other, links[link][sender].awaitsHost else { continue }
            links[link][sender].awaitsHost = false
            links[link].wake(sender, at: now)
            reschedule(link)
        }
    }
}
