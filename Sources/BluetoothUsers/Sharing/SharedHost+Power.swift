import BluetoothBase
import BluetoothHost

/// What a user asks about the power on a link.
public enum PowerCall: Sendable {
    /// Ends with `.transmitPower`, that of this device.
    case readTransmitPower
    /// Ends with `.transmitPower`, that of the peer.
    case readRemoteTransmitPower
    /// Ends with `.done`. `UserEvent.power` follows with this token until that is cancelled. A link has one user of such
    /// reports at a time, since it has one set of thresholds; others get `.busy`.
    case reportPathLoss(PathLossThresholds)
    /// The same for changes of the power that this device, the peer or either sends with.
    case reportTransmitPower(local: Bool, remote: Bool)
}

/// Power control.
extension SharedHost {
    mutating func carryOut(_ kind: PowerCall, _ call: UserCall, _ slot: LinkSlot, at now: Instant) {
        let link = links[slot.index].identifier
        switch kind {
        case .readTransmitPower:
            request(call, slot) { host throws(HostError) in try host.readTransmitPower(of: link, at: now) }
        case .readRemoteTransmitPower:
            request(call, slot) { host throws(HostError) in try host.readRemoteTransmitPower(of: link, at: now) }
        case .reportPathLoss(let thresholds):
            request(call, slot) { host throws(HostError) in
                try host.reportPathLoss(thresholds, of: link, at: now)
            }
            if isPending(call, slot) { links[slot.index].pathLossReports = call }
        case .reportTransmitPower(let local, let remote):
            request(call, slot) { host throws(HostError) in
                try host.reportTransmitPower(local: local, remote: remote, of: link, at: now)
            }
            if isPending(call, slot) { links[slot.index].transmitPowerReports = call }
        }
    }

    private func isPending(_ call: UserCall, _ slot: LinkSlot) -> Bool {
        links[slot.index].requests.contains { $0.call == call }
    }

    /// The controller has refused what a call had asked for.
    mutating func powerReportsRefused(_ call: UserCall, _ slot: LinkSlot) {
        if links[slot.index].pathLossReports == call { links[slot.index].pathLossReports = nil }
        if links[slot.index].transmitPowerReports == call { links[slot.index].transmitPowerReports = nil }
    }

    /// Ends the reports of calls. False if they have none. What still waits for its beginning ends with `.cancelled`.
    @discardableResult
    mutating func stopPowerReports(_ slot: LinkSlot, where isMeant: (UserCall) -> Bool, at now: Instant) -> Bool {
        let link = links[slot.index].identifier
        var hasStopped = false
        if let call = links[slot.index].pathLossReports, isMeant(call) {
            links[slot.index].pathLossReports = nil
            host.stopReportingPathLoss(of: link, at: now)
            hasStopped = true
        }
        if let call = links[slot.index].transmitPowerReports, isMeant(call) {
            links[slot.index].transmitPowerReports = nil
            host.stopReportingTransmitPower(of: link, at: now)
            hasStopped = true
        }
        return hasStopped
    }

    mutating func powerReported(_ event: LinkPowerEvent, on link: LinkIdentifier) {
        guard let slot = slot(of: link) else { return }
        let call: UserCall? =
            switch event {
            case .pathLoss: links[slot.index].pathLossReports
            case .transmitPower: links[slot.index].transmitPowerReports
            }
        if let call { tell(.power(link, call.token, event), to: call.user) }
    }
}
