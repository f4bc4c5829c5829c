import BluetoothATT
import BluetoothGATT
import BluetoothHCI
import BluetoothHost

extension HostEvent {
    /// The event in a few words, for comparison with what a test expects.
    var brief: String {
        switch self {
        case .controller(.ready): "ready"
        case .controller(.resetting(.hardwareError(let code))): "resetting: hardware error \(code)"
        case .controller(.resetting(.commandTimedOut(let opcode))): "resetting: no answer to \(opcode)"
        case .controller(.resetting(.malformedPacket)): "resetting: malformed packet"
        case .controller(.failed(let failure)): "failed: \(failure)"
        case .advertisement(let advertisement): "advertisement \(advertisement.rssi)"
        case .controller(.scanningFailed(let error)): "scanning failed: \(error)"
        case .controller(.advertisingStarted(let handle)): "advertising\(handle.suffix)"
        case .controller(.advertisingFailed(let handle, let error)): "advertising\(handle.suffix) failed: \(error)"
        case .controller(.advertisingEnded(let handle)): "advertising\(handle.suffix) ended"
        case .periodic(_, .established(let sync)): "synchronized \(sync.sid)"
        case .periodic(_, .failed(let error)): "not synchronized: \(error)"
        case .periodic(_, .transferred(_, let data, let sync)): "synchronized \(sync.sid) by transfer \(data)"
        case .periodic(_, .report(let report)): "periodic \(report.data.count)\(report.isTruncated ? " truncated" : "")"
        case .periodic(_, .ended(let end)): "synchronization ended: \(end)"
        case .subevents(let handle, .dataRequested(let first, let count)): "subevents\(handle.suffix) \(first) \(count)"
        case .subevents(let handle, .response(let subevent, let slot, let report)):
            "response\(handle.suffix) \(subevent) \(slot) \(report.data.count)"
        case .subevents(let handle, .responseLost(let subevent, let slot)):
            "response\(handle.suffix) \(subevent) \(slot) lost"
        case .link(let link, .connected): "connected \(link)"
        case .controller(.connectionFailed(_, let error)): "connection failed: \(error)"
        case .link(let link, .disconnected(let reason)): "disconnected \(link): \(reason.rawValue)"
        case .link(_, .parametersChanged(let parameters)): "parameters \(parameters.interval)"
        case .link(_, .phyChanged(let phys)): "phys \(phys.transmit.rawValue) \(phys.receive.rawValue)"
        case .link(_, .rssiRead(_, let rssi)): "rssi \(rssi)"
        case .link(_, .transmitPowerRead(_, let power)): "power \(power.brief)"
        case .link(_, .power(.pathLoss(let report))): "path loss \(report.loss.brief) in zone \(report.zone.rawValue)"
        case .link(_, .power(.transmitPower(let change))):
            "\(change.side) power \(change.power.brief), by \(change.delta.brief)"
        case .link(_, .requestCompleted): "request completed"
        case .link(_, .requestFailed(_, let error)): "request failed: \(error)"
        case .link(_, .mtuChanged(let mtu)): "mtu \(mtu)"
        case .client(_, .notification(let handle, _)): "notification \(handle.rawValue)"
        case .client(_, .indication(let handle, _)): "indication \(handle.rawValue)"
        case .client(_, .operationEnded(.completed)): "operation completed"
        case .client(_, .operationEnded(.failed(_, let error))): "operation failed: \(error)"
        case .server(_, .valueWritten(let handle, _)): "written \(handle.rawValue)"
        case .server(_, .readRequested(_, let handle, let offset)): "read requested \(handle.rawValue) \(offset)"
        case .server(_, .writeRequested(_, let handle, _)): "write requested \(handle.rawValue)"
        case .server(_, .executeRequested): "execute requested"
        case .server(_, .authorizationRequested(_, let handle, let access)): "consent to \(access) \(handle.rawValue)"
        case .server(_, .requestExpired): "request expired"
        case .server(_, .subscriptionChanged(let change)): "subscription \(change.new.rawValue)"
        case .server(_, .indicationConfirmed(let handle)): "confirmed \(handle.rawValue)"
        case .link(_, .readyToSend): "ready to send"
        case .link(_, .lost(let loss)): "lost: \(loss)"
        case .link(_, .peerIdentified(let peer)): "peer is \(peer)"
        case .channel(_, .received(_, let payload)): "received \(payload.count)"
        case .channel(_, .opened): "channel opened"
        case .channel(_, .openingFailed(_, let failure)): "channel not opened: \(failure)"
        case .channel(_, .readyToSend): "channel ready to send"
        case .channel(_, .limitsChanged): "channel limits changed"
        case .channel(_, .reconfigured(_, let failure)): "channels reconfigured: \(failure.map { "\($0)" } ?? "done")"
        case .channel(_, .closed(_, let end)): "channel closed: \(end)"
        case .security(_, let event): "security: \(event)"
        case .bondChanged(let bond): "\(bond)"
        case .bondMade(let made): "made: \(made.bond)"
        case .bondVoid(let bond): "void: \(bond)"
        }
    }
}

extension AdvertisingHandle {
    /// Nothing for the set that is meant where none is named.
    fileprivate var suffix: String { rawValue == 0 ? "" : " \(rawValue)" }
}

extension LinkTransmitPower {
    fileprivate var brief: String {
        "\(level.brief) of \(maximum.brief)\(isMinimum ? ", the least" : "")\(isMaximum ? ", the most" : "")"
    }
}

extension Int? {
    fileprivate var brief: String { map(String.init) ?? "unknown" }
}
