import BluetoothBase
import BluetoothGAP
import BluetoothHost

/// Advertising sets: what is advertised in them, and how it must arrive.
extension CallUser {
    /// So few that the controllers have room for those of all users.
    private static let setLimit = 2

    func performSet(_ kind: Scenario.Action.Kind, _ pick: inout SeededGenerator) {
        if kind == .stopSet { cancelFirst { $0.kind == .advertiseSet } } else { advertiseSet(&pick) }
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
        // Its time may be over before a slow controller has taken all of the data.
        call.hasTimeout = parameters.duration != nil
        post(.advertiseSet(parameters), call)
    }

    func setEnded(_ token: CallToken, _ error: HostError?) {
        guard calls.standing[token] != nil else { return }
        calls.cancel(token)
        if let error, !run.hasFaults(station) {
            fail(.fittingReason, "a set ended with “\(error)”, and nothing was wrong")
        }
    }

    /// How many sets this user has on the air, or is to have.
    var wantedSets: Int { calls.standing.values.count { $0.kind == .advertiseSet || $0.kind == .advertiseTrain } }

    /// What comes of a set is all of it, or says that it is not.
    func checkSet(_ sighting: Sighting) {
        guard !sighting.eventType.contains(.legacy), !sighting.details.isTruncated, run.anyTaintedStation == nil,
            !SetPattern.isWhole(sighting.advertisingData)
        else { return }
        fail(.expected, "\(sighting.advertisingData.count) octets of a set, which are not those that were advertised")
    }
}

/// Data that shows where it was cut or mixed with other data: its length and a number, and octets that follow from both.
enum SetPattern {
    static func data(_ length: Int, number: UInt8) -> [UInt8] {
        // One AD structure would be too short for all of it.
        (0..<length).map { octet($0, length, number) }
    }

    private static func octet(_ index: Int, _ length: Int, _ number: UInt8) -> UInt8 {
        switch index {
        case 0: UInt8(truncatingIfNeeded: length)
        case 1: UInt8(truncatingIfNeeded: length >> 8)
        case 2: number
        default: UInt8(truncatingIfNeeded: index &* 7) ^ number
        }
    }

    static func isWhole(_ data: [UInt8]) -> Bool {
        guard data.count >= 3 else { return false }
        return data == Self.data(Int(data[0]) | Int(data[1]) << 8, number: data[2])
    }
}
