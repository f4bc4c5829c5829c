import ArgumentParser
import BluetoothLE
import BluetoothCommandLine

/// `ble advertise`: advertises data that is given as octets or in parts.
struct Advertise: AsyncParsableCommand, CommandWithoutOutput {
    static let configuration = CommandConfiguration(
        abstract: "Advertises a name, services and data, or octets as they are.",
        discussion: HelpText.discussion(
            """
            What does not fit beside the rest goes into the scan response, the name first; it is cut off if need be. With \
            --data the octets are sent exactly so, flags included or not. Known formats are in ble beacon.

            With --extended or what implies it there is no scan response beside the data: all of it goes into one of them, and \
            only devices with Bluetooth 5.0 or later see it. The controller needs the extended commands.
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

    @Option(help: ArgumentHelp("The advertising data, exactly.", valueName: "hex"))
    var data: AdvertisedOctets?

    @Option(help: ArgumentHelp("The scan response data, exactly; with --data.", valueName: "hex"))
    var scanResponse: AdvertisedOctets?

    @Option(help: "The name.")
    var name: String?

    @Option(
        name: .customLong("service"), help: ArgumentHelp("A service; several may be given.", valueName: "uuid"))
    var services: [BluetoothUUID] = []

    @Option(
        help: ArgumentHelp("Data of a service; several may be given.", valueName: "uuid=hex"),
        transform: ServiceDataArgument.init)
    var serviceData: [ServiceDataArgument] = []

    @Option(
        help: ArgumentHelp(
            "Data of a company, by its identifier in four hexadecimal digits; several may be given.",
            valueName: "company=hex"),
        transform: ManufacturerDataArgument.init)
    var manufacturer: [ManufacturerDataArgument] = []

    @Option(
        parsing: .unconditional, help: ArgumentHelp("The transmit power to advertise, in dBm.", valueName: "dBm"))
    var txPower: Int8?

    @Option(help: ArgumentHelp("What the device looks like, such as 833 for a heart rate belt.", valueName: "number"))
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
            throw ValidationError("--data is all that is advertised; leave out the other parts, or leave out --data")
        }
        if extended.directed != nil {
            if !connectable {
                throw ValidationError("--directed is for a device that connects; leave out --no-connectable")
            }
            if !extended.isExtended, hasParts || data != nil {
                throw ValidationError("what is for one device carries no data without --extended")
            }
        }
        let longest = max(data?.octets.count ?? 0, scanResponse?.octets.count ?? 0)
        if longest > 31, !extended.isExtended {
            throw ValidationError("\(longest) octets take --extended; without it 31 are all there is")
        }
        if extended.isExtended, scanResponse != nil {
            if connectable || !(data?.octets.isEmpty ?? true) {
                throw ValidationError(
                    "an extended scan response stands alone: give it with --data '' and --no-connectable")
            }
            if extended.periodic != nil {
                throw ValidationError("what has periodic advertising has no scan response; leave out one of the two")
            }
            if extended.anonymous {
                throw ValidationError("nobody can ask an anonymous advertiser for a scan response")
            }
        }
        if data == nil, scanResponse != nil { throw ValidationError("--scan-response goes with --data") }
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
                    ? "1650 octets are all there is"
                    : "31 octets of data and 31 of scan response are all there is without --extended"
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
        else { throw ValidationError("data of a service is UUID=HEX, such as 180F=64, not \(quoted(text))") }
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
        else { throw ValidationError("data of a company is COMPANY=HEX, such as 004C=0215, not \(quoted(text))") }
        value = .init(companyID: company, data: data)
    }
}
