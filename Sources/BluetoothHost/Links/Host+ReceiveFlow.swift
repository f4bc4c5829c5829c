import BluetoothBase
import BluetoothHCI

/// Controller-to-host flow control (Core 5.4, Vol 4, Part E, 4.2). The controller sends no more ACL packets than the
/// host has buffers for, and waits for Host Number Of Completed Packets.
extension Host {
    /// Holds a peer back. The host still handles the packets that it receives on the link, but does not report them as
    /// completed until `resumeReceiving`. Eventually the controller stops sending, and no longer acknowledges the
    /// peer's packets.
    ///
    /// The controller counts the packets of all links together. To keep one link from blocking the others, each link
    /// may hold only its share of `HostConfiguration.receiveBufferCount`. If there are several links, packets beyond
    /// that share are not held back. Without effect if `ControllerInformation.controlsReceiving` is false.
    public mutating func holdReceiving(of link: LinkIdentifier) {
        guard receiveFlow.isOn, let slot = links.slot(of: link) else { return }
        links.at[slot.index].receiveCredit.hold()
    }

    /// Lets a peer continue that was held back by `holdReceiving`.
    public mutating func resumeReceiving(of link: LinkIdentifier) {
        guard let slot = links.slot(of: link), links.at[slot.index].receiveCredit.isHeld else { return }
        links.at[slot.index].receiveCredit.resume()
        returnCredits()
    }

    /// Reports to the controller the number of packets that the host has completed (7.3.40). The command needs no
    /// command credit and has no answer, so it does not wait for other commands.
    @inline(never)
    mutating func returnCredits() {
        guard receiveFlow.isOn else { return }
        var linkCount = 0
        for slot in links.slots where links.at[slot.index].isInUse { linkCount += 1 }
        let share = receiveFlow.beginReport(linkCount: linkCount)
        var entryCount: UInt8 = 0
        for slot in links.slots where links.at[slot.index].isInUse {
            let count = links.at[slot.index].receiveCredit.take(share: share)
            guard count > 0 else { continue }
            if entryCount == 0 {
                outbox.writer.append(HCIPacketType.command.rawValue)
                outbox.writer.append(HCIOpcode.hostNumberOfCompletedPackets.rawValue)
                // A placeholder for the length and the number of links, which are filled in at the end.
                outbox.writer.append(UInt16(0))
            }
            entryCount += 1
            outbox.writer.append(links.at[slot.index].handle.rawValue)
            outbox.writer.append(count)
            guard entryCount == ReceiveFlow.maximumReportedLinks else { continue }
            closeReport(entryCount)
            entryCount = 0
        }
        if entryCount > 0 { closeReport(entryCount) }
    }

    private mutating func closeReport(_ entryCount: UInt8) {
        outbox.writer.overwrite(UInt16(1 + 4 * entryCount) | UInt16(entryCount) << 8, at: outbox.openOffset + 3)
        outbox.commit()
    }
}
