import ArgumentParser
import BluetoothCrypto
import BluetoothLE
import BluetoothCommandLine
import BluetoothValues

/// `ble beacon bthome`.
struct BTHomeCommand: BeaconCommand {
    static let configuration = CommandConfiguration(
        commandName: "bthome", abstract: "Advertises as a BTHome sensor.",
        discussion: HelpText.discussion(
            """
            Give measurements as NAME=VALUE. The names: \(BTHomeObject.names.joined(separator: ", ")).

            With --keys, they are encrypted with the file's key for --address, which must be the address that the \
            controller advertises with. Use a different --counter for each message.
            """,
            examples: [
                "ble beacon bthome temperature=25.06 humidity=50.55 --name Cellar",
                "ble beacon bthome button=press --trigger --time 2",
            ]))

    @Argument(
        help: ArgumentHelp("Measurements and events.", valueName: "name=value"), transform: BTHomeArgument.init)
    var objects: [BTHomeArgument]

    @Option(help: "The name, shortened if it does not fit.")
    var name: String?

    @Flag(help: "Mark the device as one that advertises only when something happens.")
    var trigger = false

    @Option(
        help: ArgumentHelp(
            "Encrypt with a key from this file, which has the format of ble scan --keys.", valueName: "file"),
        completion: .file())
    var keys: String?

    @Option(help: ArgumentHelp("The address for the encryption.", valueName: "address"))
    var address: DeviceAddress?

    @Option(help: ArgumentHelp("The message counter for the encryption.", valueName: "number"))
    var counter: UInt32?

    @OptionGroup var transport: TransportOptions
    @OptionGroup var advertising: AdvertisingOptions

    func validate() throws {
        let encryption = [keys != nil, address != nil, counter != nil]
        guard Set(encryption).count == 1 else {
            throw ValidationError("encryption requires --keys, --address and --counter; give all of them or none")
        }
    }

    var advertisement: AdvertisementData {
        get throws {
            // The specification requires ascending identifiers. Objects of the same kind keep their order.
            let sorted = objects.map(\.object).enumerated()
                .sorted { ($0.element.identifier, $0.offset) < ($1.element.identifier, $1.offset) }.map(\.element)
            let value = BTHome(sorted, isTriggerBased: trigger)
            var advertisement = try encrypted(value) ?? AdvertisementData(value)
            advertisement.localName = name.map { .complete($0) }
            return advertisement
        }
    }

    private func encrypted(_ value: BTHome) throws -> AdvertisementData? {
        guard let keys, let address, let counter else { return nil }
        guard let key = try BTHomeKeys(path: keys)[address] else {
            throw CommandFailure(.usage, "\(keys) has no key for \(address)")
        }
        return AdvertisementData(
            EncryptedBTHome(value, key: key, address: address, counter: counter, with: AESCCM()))
    }
}

/// `NAME=VALUE`.
struct BTHomeArgument {
    var object: BTHomeObject

    init(_ text: String) throws {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2 else {
            throw ValidationError("a measurement is NAME=VALUE, such as temperature=25.06, not \(quoted(text))")
        }
        guard BTHomeObject.names.contains(parts[0]) else {
            throw ValidationError("BTHome has no measurement \(quoted(parts[0])); --help lists all of them")
        }
        guard let object = BTHomeObject(parts[0], text: parts[1]) else {
            throw ValidationError(
                "BTHome cannot encode \(quoted(text)): the value is out of range, has too many decimal places, or has "
                    + "the wrong type")
        }
        self.object = object
    }
}
