import ArgumentParser
import BluetoothCommandLine
import BluetoothLE

/// The options for extended advertising.
struct ExtendedOptions: ParsableArguments {
    @Flag(
        help: ArgumentHelp(
            "Send extended PDUs, with up to 1650 octets of data if the controller supports that. Older devices do not "
                + "receive them. --phy, --sid, --anonymous and --periodic imply it."))
    var extended = false

    @Option(
        help: ArgumentHelp(
            "The PHYs: 1m; 2m for data on LE 2M; coded for long range; or primary,secondary, such as coded,2m.",
            valueName: "phy"))
    var phy: AdvertisingPHYs?

    @Option(help: ArgumentHelp("The number of the advertising set, 0 to 15.", valueName: "number"))
    var sid: UInt8?

    @Flag(help: "Advertise without an address. Nobody can connect.")
    var anonymous = false

    @Option(help: ArgumentHelp("Stop after this many advertising events, 1 to 255.", valueName: "number"))
    var events: UInt8?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The maximum transmit power, -127 to 20.", valueName: "dBm"))
    var power: Int8?

    @Option(
        help: ArgumentHelp(
            "The data for periodic advertising, which devices receive with ble sync, for example. Nobody can connect.",
            valueName: "hex"))
    var periodic: AdvertisedOctets?

    @Option(help: ArgumentHelp("The periodic advertising interval, 8 to 81918 ms.", valueName: "ms"))
    var periodicInterval: Int?

    @Option(
        help: ArgumentHelp(
            "The only device that may connect. Without --extended, no data is sent.", valueName: "address"))
    var directed: DeviceAddress?

    @Flag(
        help: ArgumentHelp(
            "With --directed: advertise for 1.28 s, but so often that a waiting device connects immediately. Not with "
                + "--extended."))
    var highDuty = false

    func validate() throws {
        if highDuty, directed == nil || isExtended {
            throw ValidationError("--high-duty requires --directed, without extended advertising")
        }
        if directed != nil, periodic != nil {
            throw ValidationError("periodic advertising accepts no connections; leave out --directed or --periodic")
        }
        if periodicInterval != nil, periodic == nil {
            throw ValidationError("--periodic-interval requires --periodic")
        }
        if let periodicInterval, !(8...81_918).contains(periodicInterval) {
            throw ValidationError("--periodic-interval must be from 8 to 81918 ms")
        }
        if anonymous, periodic != nil {
            throw ValidationError("periodic advertising needs an address; leave out --anonymous or --periodic")
        }
        if let sid, sid > 15 { throw ValidationError("--sid must be from 0 to 15") }
        if events == 0 { throw ValidationError("--events must be from 1 to 255") }
        if let power, !(-127...20).contains(power) { throw ValidationError("--power must be from -127 to 20 dBm") }
    }

    /// Whether extended PDUs are sent.
    var isExtended: Bool { extended || phy != nil || sid != nil || anonymous || periodic != nil }

    /// Whether the extended advertising commands are needed.
    var isSet: Bool { isExtended || events != nil || power != nil || directed != nil }

    /// The option given by the user that needs a feature of the controller; nil if none does.
    func option(needing feature: ControllerFeature) -> String? {
        switch feature {
        case .le2M, .leCoded: return phy == nil ? nil : "--phy"
        case .periodicAdvertising: return periodic == nil ? nil : "--periodic"
        case .extendedAdvertising:
            let given = [
                (extended, "--extended"), (phy != nil, "--phy"), (sid != nil, "--sid"), (anonymous, "--anonymous"),
                (periodic != nil, "--periodic"), (events != nil, "--events"), (power != nil, "--power"),
                (directed != nil, "--directed"),
            ]
            return given.first { $0.0 }?.1
        default: return nil
        }
    }

    /// The parameters of the advertising set.
    func parameters(
        data: [UInt8], scanResponse: [UInt8], isConnectable: Bool, interval: ClosedRange<Duration>
    ) -> AdvertisingParameters {
        let phys = phy ?? AdvertisingPHYs(primary: .le1M, secondary: .le1M)
        var parameters = AdvertisingParameters(
            isConnectable: isConnectable && !anonymous && periodic == nil, interval: interval, data: data,
            scanResponse: scanResponse,
            extended: isExtended
                ? ExtendedAdvertising(
                    primaryPHY: phys.primary, secondaryPHY: phys.secondary, sid: sid, isAnonymous: anonymous,
                    includesTransmitPower: power != nil) : nil)
        if let periodic {
            let interval = Duration.milliseconds(periodicInterval ?? 100)
            parameters.periodic = PeriodicAdvertising(interval: interval...interval, data: periodic.octets)
        }
        parameters.peer = directed.map(PeerID.init)
        parameters.isHighDutyCycle = highDuty
        parameters.maximumEvents = events
        parameters.transmitPower = power
        return parameters
    }
}

/// A primary and a secondary PHY.
struct AdvertisingPHYs: ExpressibleByArgument, Equatable {
    var primary: AdvertisingPHY
    var secondary: AdvertisingPHY

    init(primary: AdvertisingPHY, secondary: AdvertisingPHY) {
        self.primary = primary
        self.secondary = secondary
    }

    init?(argument: String) {
        let phys: [String: AdvertisingPHY] = ["1m": .le1M, "2m": .le2M, "coded": .leCoded]
        let parts = argument.split(separator: ",", omittingEmptySubsequences: false).map { phys[$0.lowercased()] }
        switch (parts.count, parts.first ?? nil, parts.last ?? nil) {
        case (1, .le2M, _): self.init(primary: .le1M, secondary: .le2M)
        case (1, let phy?, _): self.init(primary: phy, secondary: phy)
        case (2, let primary?, let secondary?) where primary != .le2M:
            self.init(primary: primary, secondary: secondary)
        default:
            ArgumentRefusal.note(
                argument, "give 1m, 2m or coded, or a primary PHY (1m or coded) and a secondary one, such as coded,2m")
            return nil
        }
    }
}
