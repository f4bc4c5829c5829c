import BluetoothAdapter
import BluetoothBase
import BluetoothGAP
import BluetoothHost
import BluetoothUsers

/// Periodic advertising with responses: the data sent in subevents, the responses to it, and connections made in
/// subevents.
extension UserTrains {
    private static let subevents = PeriodicSubevents(
        count: 2, interval: .milliseconds(40), responseSlotDelay: .milliseconds(10),
        responseSlotSpacing: .milliseconds(2), responseSlotCount: 6)

    /// Each device listens to one subevent and responds in its own slot, so that responses never collide.
    private static func subevent(of station: Int) -> Int { station % subevents.count }

    // MARK: - The advertiser

    func advertiseSubevents(_ pick: inout SeededGenerator) {
        guard calls.tokens(where: { $0.kind == .advertiseTrain }).isEmpty else { return }
        breakTrain()
        run.trainsWithSubevents.insert(train)
        var parameters = AdvertisingParameters(
            isConnectable: false, interval: .milliseconds(200)...(.milliseconds(250)),
            data: SetPattern.data(8, number: 0), extended: ExtendedAdvertising(sid: train.sid))
        let interval = Duration.milliseconds(100 + 200 * pick.below(3))
        parameters.periodic = PeriodicAdvertising(
            interval: interval...(interval + .milliseconds(20)), responses: Self.subevents)
        run.trainNumbers[train, default: 0] += 1
        post(.advertiseSet(parameters), CallLedger.Call(kind: .advertiseTrain))
    }

    func connectInSubevent(_ pick: inout SeededGenerator) {
        guard run.trainsWithSubevents.contains(train),
            let set = calls.tokens(where: { $0.kind == .advertiseTrain && $0.isStanding }).first
        else { return }
        let peer = context.drawPeer(&pick)
        // Most peers receive the request in the subevent to which they listen.
        let subevent = pick.oneIn(6) ? 1 - Self.subevent(of: peer) : Self.subevent(of: peer)
        let timeout = Duration.milliseconds(200 + pick.below(8_000))
        post(
            .connect(PeerID(run.address(of: peer)), ConnectRequest(timeout: timeout, by: .subevent(subevent, of: set))),
            CallLedger.Call(
                kind: .connect, hasTimeout: true, deadline: now.advanced(by: timeout), isInSubevent: true))
    }

    func take(_ event: HostEvent.Subevents, of set: CallToken, _ batch: borrowing EventBatch) {
        switch event {
        case .dataRequested(let first, let count):
            let number = UInt8(truncatingIfNeeded: run.trainNumbers[train, default: 0])
            let data = (first..<first + count).map { subevent in
                PeriodicSubeventData(
                    subevent: subevent, data: SetPattern.data(8 + 100 * subevent, number: number),
                    responseSlots: 0..<Self.subevents.responseSlotCount)
            }
            post(.setSubeventData(set, data), CallLedger.Call(kind: .advertiseSubevents))
        case .response(let subevent, let slot, let report):
            guard run.anyTaintedStation == nil else { return }
            let data = batch.octets(of: report.data).copied()
            guard SetPattern.isWhole(data), Int(data[2]) == slot, subevent == Self.subevent(of: slot),
                slot < run.world.stationCount
            else {
                return fail(
                    .expected, "a response in slot \(slot) of subevent \(subevent) arrived that no station sent")
            }
        case .responseLost(let subevent, let slot):
            if run.anyTaintedStation == nil {
                fail(.expected, "responses collided in slot \(slot) of subevent \(subevent)")
            }
        }
    }

    // MARK: - The receiver

    func listen(to sync: PeriodicSyncIdentifier, _ information: PeriodicSyncInformation) {
        guard information.subevents != nil else { return }
        post(.sync(sync, .selectSubevents([Self.subevent(of: station)])))
    }

    func answer(_ report: PeriodicReport, of sync: PeriodicSyncIdentifier) {
        guard let subevent = report.subevent else { return }
        if Int(subevent) != Self.subevent(of: station), run.anyTaintedStation == nil {
            fail(.expected, "subevent \(subevent) was reported, but no user selected it")
        }
        let data = SetPattern.data(8, number: UInt8(truncatingIfNeeded: station))
        post(.sync(sync, .respond(report, subevent: nil, slot: station, data)))
    }
}
