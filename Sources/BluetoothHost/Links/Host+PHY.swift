import BluetoothBase
import BluetoothHCI

/// PHYs: LE 2M by policy, and what the application asks for. See `PHYNegotiation`.
extension Host {
    /// Asks for other PHYs, the same in both directions. `HostEvent.requestCompleted` follows when the controllers have agreed,
    /// which may be on what they had, and `.phyChanged` says on what (Core 5.4, Vol 4, Part E, 7.8.49).
    ///
    /// - Parameters:
    ///   - phys: those that this device would like; the controller takes one that both have.
    ///   - options: the coding on LE Coded.
    /// - Throws: `.unsupported` where the controller has LE 1M only, `.busy` while another request waits.
    public mutating func setPreferredPHYs(
        _ phys: LEPHYs, options: LEPHYOptions = .noPreference, of link: LinkIdentifier, at now: Instant
    ) throws(HostError) -> RequestIdentifier {
        guard !phys.isEmpty, phys.isSubset(of: [.le1M, .le2M, .leCoded]) else { throw .invalidParameters }
        guard let slot = links.slot(of: link) else { throw .noSuchLink }
        guard controller?.commands.contains(.leSetPHY) == true else { throw .unsupported(.phyUpdates) }
        return try request(slot, at: now) { link, request, context throws(HostError) in
            try link.phyNegotiation.ask(for: phys, options, request, context)
        }
    }

    /// A central asks for LE 2M, where both controllers have it and the configuration wants it.
    mutating func preferFastPHY(_ slot: LinkSlot, at now: Instant) {
        guard configuration.prefersLE2M, links.at[slot.index].role == .central, let controller,
            controller.features.contains(.le2MPHY), links.at[slot.index].remoteFeatures.contains(.le2MPHY),
            controller.commands.contains(.leSetPHY), !controller.quirks.contains(.leavesSetPHYUnanswered)
        else { return }
        advance(slot, at: now) { $0.phyNegotiation.handle(.preferred(.le2M), $1) }
    }

    /// Command Status of LE Set PHY.
    mutating func phyAnswered(_ status: HCIStatus, _ link: LinkIdentifier, at now: Instant) {
        guard let slot = links.slot(of: link) else { return }
        advance(slot, at: now) { $0.phyNegotiation.handle(.commandAnswered(status), $1) }
    }

    /// LE PHY Update Complete, whichever side asked for that.
    mutating func phyUpdated(_ complete: LEPHYUpdateComplete, at now: Instant) {
        guard let slot = links.slot(of: complete.connectionHandle) else { return }
        let phys = LinkPHYs(transmit: complete.transmit, receive: complete.receive)
        advance(slot, at: now) { $0.phyNegotiation.handle(.updateCompleted(complete.status, phys), $1) }
    }

    /// LE Data Length Change.
    mutating func dataLengthChanged(_ change: LEDataLengthChange) {
        guard let slot = links.slot(of: change.connectionHandle) else { return }
        links.at[slot.index].dataLength = LinkDataLength(
            transmit: change.transmit.octets, receive: change.receive.octets)
    }
}
