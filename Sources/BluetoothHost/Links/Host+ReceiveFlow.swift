import BluetoothBase
import BluetoothHCI

/// Flow control from the controller to the host (Core 5.4, Vol 4, Part E, 4.2): the controller sends no more ACL packets
/// than the host has said it holds, and waits for Host Number Of Completed Packets.
extension Host {
    /// Lets a peer wait: what is received on its link is still handled, but counts as held until `resumeReceiving`. In
    /// the end the controller sends nothing more, and does not acknowledge the peer's packets.
    ///
    /// The controller counts packets of all links together. So that no link waits for another one, each may hold no more
    /// than its share of `HostConfiguration.receiveBufferCount`; what comes beyond that is not held back while there are
    /// several links. Without effect where `ControllerInformation.controlsReceiving` is false.
    public mutating func holdReceiving(of link: LinkIdentifier) {
        guard receiveFlow.isOn, let slot = links.slot(of: link) else { return }
        links.at[slot.index].receiveCredit.hold()
    }

    /// Lets a peer go on that `holdReceiving` made wait.
    public mutating func resumeReceiving(of link: LinkIdentifier) {
        guard let slot = links.slot(of: link), links.at[slot.index].receiveCredit.isHeld else { return }
        links.at[slot.index].receiveCredit.resume()
        returnCredits()
    }

    /// Reports to the controller how many packets it may replace by others (7.3.40). The command needs no credit and gets no
    /// answer, so it does not wait in line with others.
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
                // The length and the number of links, which follow at the end.
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
