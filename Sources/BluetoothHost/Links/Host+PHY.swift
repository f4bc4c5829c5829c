import BluetoothBase
import BluetoothHCI

/// PHY updates: LE 2M by policy, and the application's requests. See `PHYNegotiation`.
extension Host {
    /// Requests PHYs for both directions of a link. `HostEvent.Link.requestCompleted` follows when the controllers have
    /// agreed, which may leave the PHYs unchanged. If they change, `.phyChanged` reports the new ones (Core 5.4, Vol 4,
    /// Part E, 7.8.49).
    ///
    /// - Parameters:
    ///   - phys: the PHYs that this device prefers. The controller chooses one that both sides support.
    ///   - options: the preferred coding on LE Coded.
    /// - Throws: `.invalidParameters` if `phys` is empty or contains an unknown PHY, `.unsupported` if the controller
    ///   lacks LE Set PHY, `.busy` while another request is pending.
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

    /// On a central, requests LE 2M if both controllers support it and the configuration prefers it.
    mutating func preferFastPHY(_ slot: LinkSlot, at now: Instant) {
        guard configuration.prefersLE2M, links.at[slot.index].role == .central, let controller,
            controller.features.contains(.le2MPHY), links.at[slot.index].remoteFeatures.contains(.le2MPHY),
            controller.commands.contains(.leSetPHY), !controller.quirks.contains(.leavesSetPHYUnanswered)
        else { return }
        advance(slot, at: now) { $0.phyNegotiation.handle(.preferred(.le2M), $1) }
    }

    /// Handles the Command Status of LE Set PHY.
    mutating func phyAnswered(_ status: HCIStatus, _ link: LinkIdentifier, at now: Instant) {
        guard let slot = links.slot(of: link) else { return }
        advance(slot, at: now) { $0.phyNegotiation.handle(.commandAnswered(status), $1) }
    }

    /// Handles LE PHY Update Complete, which either side may have caused.
    mutating func phyUpdated(_ complete: LEPHYUpdateComplete, at now: Instant) {
        guard let slot = links.slot(of: complete.connectionHandle) else { return }
        let phys = LinkPHYs(transmit: complete.transmit, receive: complete.receive)
        advance(slot, at: now) { $0.phyNegotiation.handle(.updateCompleted(complete.status, phys), $1) }
    }

    /// Handles LE Data Length Change.
    mutating func dataLengthChanged(_ change: LEDataLengthChange) {
        guard let slot = links.slot(of: change.connectionHandle) else { return }
        links.at[slot.index].dataLength = LinkDataLength(
            transmit: change.transmit.octets, receive: change.receive.octets)
    }
}
