import BluetoothBase
import BluetoothHost

/// A user's call that concerns the transmit power or path loss of a link.
public enum PowerCall: Sendable {
    /// Reads the transmit power of this device; ends with `.transmitPower`.
    case readTransmitPower
    /// Reads the transmit power of the peer; ends with `.transmitPower`.
    case readRemoteTransmitPower
    /// Starts path loss reports; ends with `.done`. `UserEvent.power` follows with this token until it is cancelled. A
    /// link has only one set of thresholds, so only one user can receive these reports at a time. Other calls end with
    /// `.busy`.
    case reportPathLoss(PathLossThresholds)
    /// Like `reportPathLoss`, for changes of the transmit power of this device, of the peer, or of both.
    case reportTransmitPower(local: Bool, remote: Bool)
}

/// Power control and path loss monitoring.
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

    /// Removes reports whose request failed.
    mutating func powerReportsRefused(_ call: UserCall, _ slot: LinkSlot) {
        if links[slot.index].pathLossReports == call { links[slot.index].pathLossReports = nil }
        if links[slot.index].transmitPowerReports == call { links[slot.index].transmitPowerReports = nil }
    }

    /// Stops the reports of matching calls. Returns false if no call matches. A request that has not completed ends
    /// with `.cancelled`.
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
