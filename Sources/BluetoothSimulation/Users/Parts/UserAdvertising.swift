import BluetoothBase
import BluetoothGAP
import BluetoothHost
import BluetoothUsers

/// A user's advertisements: its service, and sets whose data reveals whether it arrives complete. Its only state is its
/// calls.
final class UserAdvertising: UserPart {
    let context: UserContext

    init(_ context: UserContext) { self.context = context }

    /// Few enough that the controllers have room for the sets of all users.
    private static let setLimit = 2

    func perform(_ kind: Scenario.Action.Kind, _ pick: inout SeededGenerator) {
        switch kind {
        case .advertise: advertise(&pick)
        case .stopAdvertising: context.callOffFirst { $0.kind == .advertise }
        case .advertiseSet: advertiseSet(&pick)
        case .stopSet: context.callOffFirst { $0.kind == .advertiseSet }
        default: return
        }
    }

    private func advertise(_ pick: inout SeededGenerator) {
        let name: String? = pick.oneIn(2) ? "device \(station)" : nil
        advertise(every: .milliseconds(100 + 200 * pick.below(5)), as: name)
    }

    func advertise(every interval: Duration, as name: String? = nil) {
        for token in calls.tokens(where: { $0.kind == .advertise }) { context.callOff(token) }
        var advertisement = AdvertisementData()
        advertisement.flags = [.generalDiscoverable, .brEDRNotSupported]
        advertisement.serviceUUIDs = [SimulatedService.uuid]
        if let name { advertisement.localName = .complete(name) }
        post(
            .advertise(
                AdvertisingRequest(
                    advertisement, interval: interval...(interval + .milliseconds(50)), cutsToFit: true)),
            CallLedger.Call(kind: .advertise))
    }

    private func advertiseSet(_ pick: inout SeededGenerator) {
        guard run.scenario.devices[station].hasExtendedAdvertising == true,
            calls.tokens(where: { $0.kind == .advertiseSet }).count < Self.setLimit
        else { return }
        let isConnectable = pick.oneIn(3)
        let length = [8, 31, 200, 230, 700, 1650][pick.below(isConnectable ? 3 : 6)]
        let primary: AdvertisingPHY = pick.oneIn(4) ? .leCoded : .le1M
        let secondary: AdvertisingPHY = [.le1M, .le2M, .leCoded][pick.below(3)]
        let interval = Duration.milliseconds(100 + 200 * pick.below(5))
        var parameters = AdvertisingParameters(
            isConnectable: isConnectable, interval: interval...(interval + .milliseconds(50)),
            data: SetPattern.data(length, number: UInt8(truncatingIfNeeded: pick.below(256))),
            extended: ExtendedAdvertising(
                primaryPHY: primary, secondaryPHY: secondary, isAnonymous: !isConnectable && pick.oneIn(4)))
        if pick.oneIn(6) { parameters.duration = .milliseconds(100 + pick.below(5_000)) }
        if pick.oneIn(6) { parameters.maximumEvents = UInt8(1 + pick.below(20)) }
        var call = CallLedger.Call(kind: .advertiseSet)
        // The duration may be over before a slow controller has received all of the data.
        call.hasTimeout = parameters.duration != nil
        post(.advertiseSet(parameters), call)
    }

    func setEnded(_ token: CallToken, _ error: HostError?) {
        guard calls.standing[token] != nil else { return }
        context.noteCancelled(token)
        if let error, !run.hasFaults(station) {
            fail(.fittingReason, "a set ended with “\(error)”, although nothing had failed")
        }
    }

    /// Whether this user advertises its service, or is about to.
    var isWanted: Bool { !calls.tokens { $0.kind == .advertise }.isEmpty }

    /// The number of sets this user has on the air, or should have.
    var wantedSets: Int { calls.standing.values.count { $0.kind == .advertiseSet || $0.kind == .advertiseTrain } }
}
