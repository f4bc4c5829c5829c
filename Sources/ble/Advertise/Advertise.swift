import ArgumentParser
import BluetoothBase
import BluetoothGAP
import BluetoothLE
import BluetoothCommandLine

/// `ble advertise`: advertises data that is given as octets or in parts.
struct Advertise: AsyncParsableCommand, CommandWithoutOutput {
    static let configuration = CommandConfiguration(
        abstract: "Advertises a name, services and data, or raw octets.",
        discussion: HelpText.discussion(
            """
            Parts that do not fit in the advertising data go into the scan response. The name gets the remaining \
            space, and is shortened if necessary. With --data, the octets are sent unchanged, and no flags are added. \
            For known formats, use ble beacon.

            With --extended, or an option that implies it, there is either advertising data or a scan response, not \
            both, and only devices with Bluetooth 5.0 or later receive it. The controller must support extended \
            advertising.
            """,
            examples: [
                "ble advertise --name Thermometer --service 1809",
                "ble advertise --manufacturer FFFF=0102 --no-connectable --time 60",
                "ble advertise --data 0201060303AAFE",
                "ble advertise --name Thermometer --phy coded --sid 3 --no-connectable",
                "ble advertise --name Clock --periodic 0416050A15 --periodic-interval 1000",
                "ble advertise --directed C0:11:22:33:44:55 --high-duty",
            ]))

    @OptionGroup var transport: TransportOptions

    @Option(help: ArgumentHelp("The exact advertising data.", valueName: "hex"))
    var data: AdvertisedOctets?

    @Option(help: ArgumentHelp("The exact scan response data; requires --data.", valueName: "hex"))
    var scanResponse: AdvertisedOctets?

    @Option(help: "The name to advertise.")
    var name: String?

    @Option(
        name: .customLong("service"), help: ArgumentHelp("A service. Can be repeated.", valueName: "uuid"))
    var services: [BluetoothUUID] = []

    @Option(
        help: ArgumentHelp("Data for a service. Can be repeated.", valueName: "uuid=hex"),
        transform: ServiceDataArgument.init)
    var serviceData: [ServiceDataArgument] = []

    @Option(
        help: ArgumentHelp(
            "Data for a company, given by its identifier of four hexadecimal digits. Can be repeated.",
            valueName: "company=hex"),
        transform: ManufacturerDataArgument.init)
    var manufacturer: [ManufacturerDataArgument] = []

    @Option(
        parsing: .unconditional, help: ArgumentHelp("The transmit power to advertise, in dBm.", valueName: "dBm"))
    var txPower: Int8?

    @Option(help: ArgumentHelp("The appearance of the device, such as 833 for a heart rate belt.", valueName: "number"))
    var appearance: UInt16?

    @Flag(inversion: .prefixedNo, exclusivity: .exclusive, help: "Accept connections.")
    var connectable = true

    @OptionGroup var extended: ExtendedOptions

    @OptionGroup var advertising: AdvertisingOptions

    func validate() throws {
        let hasParts =
            name != nil || txPower != nil || appearance != nil || !services.isEmpty || !serviceData.isEmpty
            || !manufacturer.isEmpty
        if data != nil, hasParts {
            throw ValidationError("--data is all that is advertised; leave out the other parts, or --data")
        }
        if extended.directed != nil {
            if !connectable {
                throw ValidationError("directed advertising is connectable; leave out --no-connectable")
            }
            if !extended.isExtended, hasParts || data != nil {
                throw ValidationError("directed advertising carries no data without --extended")
            }
        }
        let longest = max(data?.octets.count ?? 0, scanResponse?.octets.count ?? 0)
        if longest > 31, !extended.isExtended {
            throw ValidationError("\(longest) octets need --extended; without it, the limit is 31")
        }
        if extended.isExtended, scanResponse != nil {
            if connectable || !(data?.octets.isEmpty ?? true) {
                throw ValidationError(
                    "an extended scan response stands alone; give it with --data '' and --no-connectable")
            }
            if extended.periodic != nil {
                throw ValidationError("a set with periodic advertising has no scan response; leave out one of the two")
            }
            if extended.anonymous {
                throw ValidationError("anonymous advertising has no scan response; leave out one of the two")
            }
        }
        if data == nil, scanResponse != nil { throw ValidationError("--scan-response requires --data") }
        if data == nil, !hasParts, extended.periodic == nil, extended.directed == nil {
            throw ValidationError("there is nothing to advertise; give --name, --service or --data, for example")
        }
    }

    func run() async throws {
        let (data, scanResponse) = try octets
        try await advertising.run(
            transport, data: data, scanResponse: scanResponse, isConnectable: connectable, extended: extended)
    }

    /// The octets to advertise.
    ///
    /// - Throws: a usage failure if they do not fit.
    var octets: (data: [UInt8], scanResponse: [UInt8]) {
        get throws(CommandFailure) {
            if let data { return (data.octets, scanResponse?.octets ?? []) }
            if extended.directed != nil, !extended.isExtended { return ([], []) }
            var advertisement = AdvertisementData()
            advertisement.flags = [.generalDiscoverable, .brEDRNotSupported]
            advertisement.localName = name.map { .complete($0) }
            advertisement.serviceUUIDs = services
            advertisement.serviceData = serviceData.map(\.value)
            advertisement.manufacturerData = manufacturer.map(\.value)
            advertisement.txPowerLevel = txPower
            advertisement.appearance = appearance.map(Appearance.init(rawValue:))
            do throws(AdvertisingPayloadError) {
                let payload = try AdvertisingPayload(
                    advertisement, limits: extended.isExtended ? .extended : .legacy)
                return (payload.advertisingData, payload.scanResponseData)
            } catch {
                let room =
                    extended.isExtended
                    ? "the limit is 1650 octets"
                    : "without --extended, the limit is 31 octets of data and 31 of scan response"
                throw CommandFailure(.usage, "\(error); \(room)")
            }
        }
    }
}

/// `UUID=HEX`.
struct ServiceDataArgument {
    var value: AdvertisementData.ServiceData

    init(_ text: String) throws {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let uuid = BluetoothUUID(String(parts[0])),
            let data = [UInt8](hexadecimal: String(parts[1]))
        else { throw ValidationError("service data is UUID=HEX, such as 180F=64, not \(quoted(text))") }
        value = .init(uuid: uuid, data: data)
    }
}

/// `COMPANY=HEX`.
struct ManufacturerDataArgument {
    var value: AdvertisementData.ManufacturerData

    init(_ text: String) throws {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].utf8.count == 4, let company = UInt16(parts[0], radix: 16),
            let data = [UInt8](hexadecimal: String(parts[1]))
        else { throw ValidationError("company data is COMPANY=HEX, such as 004C=0215, not \(quoted(text))") }
        value = .init(companyID: company, data: data)
    }
}
