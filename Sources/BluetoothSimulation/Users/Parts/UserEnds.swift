import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHCI
import BluetoothHost
import BluetoothUsers

/// Checks whether calls and links end in time, and for reasons that match what happened.
final class UserEnds: UserPart {
    let context: UserContext
    private let channels: UserChannels
    private let pairing: UserPairing
    private let sending: UserSending
    private let trains: UserTrains

    init(
        _ context: UserContext, channels: UserChannels, pairing: UserPairing, sending: UserSending, trains: UserTrains
    ) {
        self.context = context
        self.channels = channels
        self.pairing = pairing
        self.sending = sending
        self.trains = trains
    }

    /// Whether a call can have ended with an error.
    func fits(_ error: HostError, _ call: CallLedger.Call) -> Bool {
        switch error {
        // Changing a set ends together with the set, and so does a connection attempt in one of its subevents.
        case .cancelled:
            call.isCancelled || call.kind == .changeTrain && !trains.isAdvertisingPeriodically
                || call.isInSubevent
        // A peer without faults answers in time. Requests queued behind one that times out end with it (Core 5.4, Vol
        // 3, Part F, 3.3.3).
        case .timedOut: call.hasTimeout || call.link.map(context.mayTimeOut) ?? run.hasFaults(station)
        case .peerNotResponding: call.kind == .connect && call.hasTimeout
        case .noSuchLink: call.link.map { links[$0] == nil } ?? false
        case .disconnected: call.link != nil || call.kind == .connect
        case .notReady: context.status != .ready || run.hasFaults(station)
        case .adapterRemoved, .controllerReset: run.hasFaults(station)
        // Hosts retry such an attempt.
        case .controller(.connectionFailedToBeEstablished): false
        case .controller: run.hasFaults(station) || call.kind != .read
        // The features of a controller are unknown if its responses about them were truncated.
        case .unsupported, .advertisingDataTooLong:
            call.kind == .advertise && run.isTainted(station) || trains.isOfSets(call) && trains.mayLackSets
        case .busy where trains.isOfSets(call) || call.kind == .advertise: trains.mayHaveTooMuch
        case .busy:
            calls.open.count > 16 || call.kind == .pair || call.kind == .openChannel || call.kind == .reconfigureChannel
                || call.kind == .updateParameters || call.kind == .indicate && sending.hasManyIndications(call)
        // The set may have ended by then.
        case .invalidParameters:
            [.updateParameters, .beAgent, .tellOfTrain, .changeTrain, .advertiseSubevents].contains(call.kind)
                || call.isInSubevent
        case .alreadyConnected: call.kind == .connect
        case .connectionFailedToBeEstablished: call.kind == .connect && (run.mayFailToConnect || call.isInSubevent)
        case .refusedByPeer: call.kind == .updateParameters
        case .client: call.link != nil
        // An indication that must wait for another one waits in the host.
        case .server(let error): call.kind == .indicate && error != .indicationPending || call.kind == .dawdle
        case .notFound: call.kind == .subscribe
        case .servicesChanged: call.link != nil && run.serviceChangeCount > 0
        case .database: call.kind == .publish || call.kind == .withdraw
        case .advertisingData: call.kind == .advertise
        // A call that was refused because protection is missing, and waited for a pairing, ends with that refusal
        // instead.
        case .pairing(let error):
            call.kind == .pair
                && (call.link.flatMap { links[$0] }.map {
                    pairing.fits(error, run.pairings.current(station, $0.peer), $0)
                } ?? true)
        case .noSuchSync: call.kind == .tellOfTrain
        case .noSuchChannel: call.kind == .reconfigureChannel
        case .channel(let failure): channels.fits(failure, call)
        case .channelReconfiguration(let failure): channels.fits(failure, call)
        case .bondNotStored: call.kind == .removeBond && run.scenario.slowStorage == true
        case .notBonded: call.kind == .removeBond || call.kind == .pair
        }
    }

    /// Checks that a call with a time limit ends within it.
    func checkDeadline(_ call: CallLedger.Call) {
        // If the host is busy, some time passes between the end and its event.
        guard let deadline = call.deadline, now > deadline.advanced(by: .seconds(1)), !call.isCancelled,
            !run.hasFaults(station), !run.hasSecurity
        else { return }
        fail(.fittingReason, "\(call.kind.rawValue) is still pending after its time limit")
    }

    /// Checks that there was a cause for the reason of a disconnection.
    func check(_ reason: DisconnectReason, of identifier: LinkIdentifier) {
        guard let link = links[identifier] else { return }
        let peer = link.peer
        let isWrong =
            switch reason {
            case .transactionTimeout: !context.mayTimeOut(identifier) && !run.isDamaged(station)
            case .supervisionTimeout: run.faults == 0
            case .peerTooFast: !run.isTainted(peer) && !run.isTainted(station)
            case .consumerTooSlow:
                run.scenario.devices[station].hasHostFlowControl && !run.hasFaults(station) && !run.isDamaged(station)
            case .other(.memoryCapacityExceeded): true
            case .byThisDevice:
                // A server on CoreBluetooth closes a link on which a write without response may have been lost.
                link.isHeld && !run.hasSecurity && !run.hasFaults(station) && !run.incomplete.contains(peer)
                    && !run.disconnects.contains(.init(station: station, peer: peer))
            default: false
            }
        if isWrong { fail(.fittingReason, "a link ended because \(reason)") }
    }
}
