import BluetoothBase
import BluetoothHCI

/// The PHYs that a link uses (Core 5.4, Vol 6, Part B, 4.6 and 5.1.10).
public struct LinkPHYs: Equatable, Sendable {
    /// The one this device sends on.
    public var transmit: LEPHY
    /// The one the peer sends on.
    public var receive: LEPHY

    /// Those that a link begins with, unless it was made by extended advertising on others.
    public init(transmit: LEPHY = .le1M, receive: LEPHY = .le1M) {
        self.transmit = transmit
        self.receive = receive
    }
}

/// The most octets of a data packet on the air, in each direction (Core 5.4, Vol 6, Part B, 4.5.10). The host asks for as many as its
/// controller has.
public struct LinkDataLength: Equatable, Sendable {
    /// What this device sends, 27 to 251.
    public var transmit: UInt16
    /// What the peer sends, 27 to 251.
    public var receive: UInt16

    /// That of a new link.
    public init(transmit: UInt16 = 27, receive: UInt16 = 27) {
        self.transmit = transmit
        self.receive = receive
    }
}

/// What a link is to use, and what of that is under way.
struct PHYUpdate: Sendable {
    struct Wish: Sendable {
        /// Nil for what the host asks for by itself.
        var request: RequestIdentifier?
        var phys: LEPHYs
        var options = LEPHYOptions.noPreference
    }

    /// With the controller, and when it is given up.
    var running: (wish: Wish, deadline: Instant)?
    /// What is asked for after that.
    var next: Wish?

    /// What the link layer gives a procedure (Vol 6, Part B, 5.2).
    static let timeout = Duration.seconds(40)
}

/// PHYs: LE 2M by policy, and what the application asks for.
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
        guard controller?.commands.contains(.leSetPHY) == true else { throw .unsupported }
        guard links.at[slot].phyUpdate.next == nil, links.at[slot].phyUpdate.running?.wish.request == nil else {
            throw .busy
        }
        let request = makeRequest()
        links.at[slot].phyUpdate.next = PHYUpdate.Wish(request: request, phys: phys, options: options)
        advancePHY(slot, at: now)
        return request
    }

    /// A central asks for LE 2M, where both controllers have it and the configuration wants it.
    mutating func preferFastPHY(_ slot: Int, at now: Instant) {
        guard configuration.prefersLE2M, links.at[slot].role == .central, let controller,
            controller.features.contains(.le2MPHY), links.at[slot].remoteFeatures.contains(.le2MPHY),
            controller.commands.contains(.leSetPHY), !controller.quirks.contains(.leavesSetPHYUnanswered),
            links.at[slot].phyUpdate.next == nil
        else { return }
        links.at[slot].phyUpdate.next = PHYUpdate.Wish(phys: .le2M)
        advancePHY(slot, at: now)
    }

    private mutating func advancePHY(_ slot: Int, at now: Instant) {
        guard links.at[slot].phyUpdate.running == nil, let wish = links.at[slot].phyUpdate.next else { return }
        links.at[slot].phyUpdate.next = nil
        let command = LESetPHY(
            connectionHandle: links.at[slot].handle, transmit: wish.phys, receive: wish.phys, options: wish.options)
        links.at[slot].phyUpdate.running = (wish, now.advanced(by: PHYUpdate.timeout))
        guard !sendOptional(command, for: .setPHY(links.at[slot].identifier), at: now) else { return }
        endPHYUpdate(slot, .busy, at: now)
    }

    /// Command Status of LE Set PHY.
    mutating func phyAnswered(_ status: HCIStatus, _ link: LinkIdentifier, at now: Instant) {
        guard status != .success, let slot = links.slot(of: link) else { return }
        endPHYUpdate(slot, .controller(status), at: now)
    }

    /// LE PHY Update Complete, whichever side asked for that.
    mutating func phyUpdated(_ complete: LEPHYUpdateComplete, at now: Instant) {
        guard let slot = links.slot(of: complete.connectionHandle) else { return }
        guard complete.status == .success else { return endPHYUpdate(slot, .controller(complete.status), at: now) }
        let phys = LinkPHYs(transmit: complete.transmit, receive: complete.receive)
        if links.at[slot].phys != phys {
            links.at[slot].phys = phys
            // A link that has not been reported yet will have them when it is.
            if links.at[slot].life.isAnnounced {
                events.append(.link(links.at[slot].identifier, .phyChanged(phys)))
            }
        }
        endPHYUpdate(slot, nil, at: now)
    }

    /// LE Data Length Change.
    mutating func dataLengthChanged(_ change: LEDataLengthChange) {
        guard let slot = links.slot(of: change.connectionHandle) else { return }
        links.at[slot].dataLength = LinkDataLength(transmit: change.transmit.octets, receive: change.receive.octets)
    }

    mutating func endPHYUpdate(_ slot: Int, _ error: HostError?, at now: Instant) {
        guard let running = links.at[slot].phyUpdate.running else { return }
        links.at[slot].phyUpdate.running = nil
        if let request = running.wish.request {
            let link = links.at[slot].identifier
            events.append(.link(link, error.map { .requestFailed(request, $0) } ?? .requestCompleted(request)))
        }
        advancePHY(slot, at: now)
    }
}

extension Link {
    /// What the application has asked for and waits for.
    var phyRequests: [RequestIdentifier] {
        [phyUpdate.running?.wish.request, phyUpdate.next?.request].compactMap { $0 }
    }
}
