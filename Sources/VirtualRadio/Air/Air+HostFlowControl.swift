import BluetoothBase
import BluetoothHCI

/// How a host holds back the data that a controller has for it (Core 5.4, Vol 4, Part E, 4.2).
///
/// A controller does not take from the air what its host has no buffer for: it stays in the buffers of the controller that
/// sends it, whose host learns later that they are free. So a link that is held back takes no memory, and sets no timer.
extension Air {
    /// Takes Host Number Of Completed Packets (7.3.40). Hosts have no credits for it: it waits for no other command, and is
    /// answered only to refuse it. Packets of a link that has ended count as completed already, and are not counted again.
    ///
    /// - Returns: false where the packet is another command, or one this controller does not know.
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
        // Read one by one: a list of the links would take memory for each command, of which there are many.
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

    /// Has a link wait until the host of the receiver has a free buffer.
    mutating func hold(_ sender: LinkRole, of link: Int) {
        links[link][sender].awaitsHost = true
        controllers[links[link][sender.other].controller].settings.hostBuffers.isAwaited = true
    }

    /// Lets the links of a controller go on that wait for a buffer of its host, if one is free.
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
