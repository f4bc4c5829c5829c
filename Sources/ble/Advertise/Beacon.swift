import ArgumentParser
import BluetoothCrypto
import BluetoothGAP
import BluetoothLE
import BluetoothCommandLine
import BluetoothValues

/// `ble beacon`: advertises in a known format.
struct Beacon: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Advertises as a beacon or a sensor in a known format.",
        discussion: HelpText.discussion(
            "Nobody can connect to the beacon. ble scan decodes its data.",
            examples: [
                "ble beacon ibeacon FB0B57A2-8228-44CD-913A-94A122BA1206 1 2",
                "ble beacon eddystone-url https://example.com",
                "ble beacon bthome temperature=25.06 humidity=50.55",
            ]),
        subcommands: [
            IBeaconCommand.self, EddystoneUIDCommand.self, EddystoneURLCommand.self, EddystoneTLMCommand.self,
            BTHomeCommand.self,
        ])
}

/// A command that advertises in a known format.
protocol BeaconCommand: AsyncParsableCommand, CommandWithoutOutput {
    var transport: TransportOptions { get }
    var advertising: AdvertisingOptions { get }
    /// The data to advertise, without the flags.
    var advertisement: AdvertisementData { get throws }
}

extension BeaconCommand {
    func run() async throws {
        try await advertising.run(transport, data: try data, isConnectable: false)
    }

    /// The octets to advertise.
    ///
    /// - Throws: a usage failure if they do not fit.
    var data: [UInt8] {
        get throws {
            var advertisement = try advertisement
            advertisement.flags = [.generalDiscoverable, .brEDRNotSupported]
            do throws(AdvertisingPayloadError) {
                return try AdvertisingPayload(advertisement, limits: .init(advertisingData: 31, scanResponseData: 0))
                    .advertisingData
            } catch {
                throw CommandFailure(.usage, "\(error); the limit is 31 octets")
            }
        }
    }
}

extension AdvertisementData {
    /// Creates data with one value. For some formats it also lists the service, because scanners filter by it.
    init(_ value: some AdvertisedValue, listingService: Bool = false) {
        self.init()
        switch type(of: value).container {
        case .serviceData(let uuid):
            serviceData = [ServiceData(uuid: uuid, data: value.encoded)]
            if listingService { serviceUUIDs = [uuid] }
        case .manufacturerData(let company):
            manufacturerData = [ManufacturerData(companyID: company, data: value.encoded)]
        }
    }
}

/// `ble beacon ibeacon`.
struct IBeaconCommand: BeaconCommand {
    static let configuration = CommandConfiguration(
        commandName: "ibeacon", abstract: "Advertises as an iBeacon.",
        discussion: HelpText.discussion(
            "", examples: ["ble beacon ibeacon FB0B57A2-8228-44CD-913A-94A122BA1206 1 2 --power -47"]))

    @Argument(help: "The UUID that all beacons of an owner share.")
    var uuid: BluetoothUUID

    @Argument(help: "The group of beacons, from 0 to 65535.")
    var major: UInt16

    @Argument(help: "The beacon in the group, from 0 to 65535.")
    var minor: UInt16

    @Option(parsing: .unconditional, help: ArgumentHelp("The signal strength at 1 m.", valueName: "dBm"))
    var power: Int8 = -59

    @OptionGroup var transport: TransportOptions
    @OptionGroup var advertising: AdvertisingOptions

    var advertisement: AdvertisementData {
        AdvertisementData(IBeacon(uuid: uuid, major: major, minor: minor, measuredPower: power))
    }
}

/// The transmit power in Eddystone frames.
struct EddystoneOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The signal strength at 0 m, which is 41 dB more than at 1 m.", valueName: "dBm"))
    var power: Int8 = -18
}

/// `ble beacon eddystone-uid`.
struct EddystoneUIDCommand: BeaconCommand {
    static let configuration = CommandConfiguration(
        commandName: "eddystone-uid", abstract: "Advertises as an Eddystone beacon with an identifier.",
        discussion: HelpText.discussion(
            "", examples: ["ble beacon eddystone-uid 00010203040506070809 AABBCCDDEEFF"]))

    @Argument(
        help: ArgumentHelp(
            "The namespace that all beacons of an owner share: 20 hexadecimal digits.", valueName: "namespace"))
    var namespace: AdvertisedOctets

    @Argument(help: ArgumentHelp("The beacon in the namespace: 12 hexadecimal digits.", valueName: "instance"))
    var instance: AdvertisedOctets

    @OptionGroup var eddystone: EddystoneOptions
    @OptionGroup var transport: TransportOptions
    @OptionGroup var advertising: AdvertisingOptions

    func validate() throws {
        guard namespace.octets.count == EddystoneUID.namespaceLength else {
            throw ValidationError("a namespace has 20 hexadecimal digits, not \(2 * namespace.octets.count)")
        }
        guard instance.octets.count == EddystoneUID.instanceLength else {
            throw ValidationError("an instance has 12 hexadecimal digits, not \(2 * instance.octets.count)")
        }
    }

    var advertisement: AdvertisementData {
        get throws {
            let value = EddystoneUID(
                namespace: namespace.octets, instance: instance.octets, txPower: eddystone.power)
            guard let value else { throw CommandFailure(.usage, "the namespace or the instance has the wrong length") }
            return AdvertisementData(value, listingService: true)
        }
    }
}

/// `ble beacon eddystone-url`.
struct EddystoneURLCommand: BeaconCommand {
    static let configuration = CommandConfiguration(
        commandName: "eddystone-url", abstract: "Advertises as an Eddystone beacon with a URL.",
        discussion: HelpText.discussion("", examples: ["ble beacon eddystone-url https://example.com/door"]))

    @Argument(
        help: ArgumentHelp(
            "The URL: http:// or https:// and at most 17 octets, of which .com and similar endings take one.",
            valueName: "url"))
    var url: String

    @OptionGroup var eddystone: EddystoneOptions
    @OptionGroup var transport: TransportOptions
    @OptionGroup var advertising: AdvertisingOptions

    var advertisement: AdvertisementData {
        get throws {
            guard let value = EddystoneURL(url: url, txPower: eddystone.power) else {
                throw CommandFailure(
                    .usage,
                    "\(quoted(url)) does not fit a beacon: a URL begins with http:// or https://, has only ASCII "
                        + "characters without spaces, and at most 17 octets, of which .com/ and similar ones take one")
            }
            return AdvertisementData(value, listingService: true)
        }
    }
}

/// `ble beacon eddystone-tlm`.
struct EddystoneTLMCommand: BeaconCommand {
    static let configuration = CommandConfiguration(
        commandName: "eddystone-tlm", abstract: "Advertises the telemetry of an Eddystone beacon.",
        discussion: HelpText.discussion(
            "", examples: ["ble beacon eddystone-tlm --battery 3000 --temperature 21.5 --count 42 --uptime 10.1"]))

    @Option(help: ArgumentHelp("The battery voltage.", valueName: "mV"))
    var battery: UInt16?

    @Option(
        parsing: .unconditional, help: ArgumentHelp("The temperature, from -127.99 to 127.99 °C.", valueName: "°C"))
    var temperature: Double?

    @Option(help: "The number of advertisements sent so far.")
    var count: UInt32 = 0

    @Option(help: ArgumentHelp("The time since power-on, up to 429496729.5 s.", valueName: "seconds"))
    var uptime = 0.0

    @OptionGroup var transport: TransportOptions
    @OptionGroup var advertising: AdvertisingOptions

    func validate() throws {
        guard temperature.map({ abs($0) < 128 }) ?? true else {
            throw ValidationError("--temperature must be from -127.99 to 127.99 °C")
        }
        guard (0...429_496_729.5).contains(uptime) else {
            throw ValidationError("--uptime must be from 0 to 429496729.5 seconds")
        }
    }

    var advertisement: AdvertisementData {
        AdvertisementData(
            EddystoneTLM(
                batteryVoltage: battery, temperature: temperature, advertisementCount: count,
                tenthsOfSecondsSinceStart: UInt32((uptime * 10).rounded())), listingService: true)
    }
}
