import BluetoothPlatform
import ArgumentParser
import BluetoothLE
@testable import BluetoothCommandLine
import Testing

@testable import ble

/// `ble advertise` and `ble beacon`: the octets they send.
struct AdvertiseTests {
    @Test(
        "A feature that a controller lacks is reported with the option that needs it",
        arguments: [
            (
                "--name A --phy coded", .leCoded,
                "the controller does not support LE Coded, which --phy needs; leave it out"
            ),
            ("--name A --sid 3", .extendedAdvertising, "extended advertising, which --sid needs; leave it out"),
            ("--periodic 01", .periodicAdvertising, "periodic advertising, which --periodic needs; leave it out"),
            ("--name A", .extendedAdvertising, "does not support extended advertising; use another controller"),
        ] as [(String, ControllerFeature, String)])
    func missing(_ options: String, _ feature: ControllerFeature, _ words: String) throws {
        let arguments = ["advertise"] + options.split(separator: " ").map(String.init)
        let command = try #require(try BLE.parseAsRoot(arguments) as? Advertise)
        let failure = CommandFailure(
            .notSupported(feature), option: command.extended.option(needing:))
        #expect(failure.status == .notFound && failure.message?.contains(words) == true, "\(failure)")
        let other = CommandFailure(.notSupported(.subscriptions), option: command.extended.option(needing:))
        #expect(other.message == "the characteristic supports neither notifications nor indications")
    }

    private func data(_ arguments: String) throws -> [UInt8] {
        let command = try BLE.parseAsRoot(words(arguments))
        if let beacon = command as? any BeaconCommand { return try beacon.data }
        return try #require(command as? Advertise).octets.data
    }

    private func words(_ arguments: String) -> [String] { arguments.split(separator: " ").map(String.init) }

    @Test(
        "Each format is encoded as specified",
        arguments: [
            (
                "beacon ibeacon FB0B57A2-8228-44CD-913A-94A122BA1206 1 2 --power -47",
                "02 01 06 1A FF 4C 00 02 15 FB 0B 57 A2 82 28 44 CD 91 3A 94 A1 22 BA 12 06 00 01 00 02 D1"
            ),
            (
                "beacon eddystone-uid 00010203040506070809 AABBCCDDEEFF",
                "02 01 06 03 03 AA FE 17 16 AA FE 00 EE 00 01 02 03 04 05 06 07 08 09 AA BB CC DD EE FF 00 00"
            ),
            (
                "beacon eddystone-url https://goo.gl/Aq18zF --power -20",
                "02 01 06 03 03 AA FE 13 16 AA FE 10 EC 03 67 6F 6F 2E 67 6C 2F 41 71 31 38 7A 46"
            ),
            (
                "beacon eddystone-tlm --battery 3000 --temperature 1.5 --count 42 --uptime 10.1",
                "02 01 06 03 03 AA FE 11 16 AA FE 20 00 0B B8 01 80 00 00 00 2A 00 00 00 65"
            ),
            // The example of BTHome's specification; and what is given out of order.
            (
                "beacon bthome temperature=25 humidity=50.55 --name DIY-sensor",
                "02 01 06 0A 16 D2 FC 40 02 C4 09 03 BF 13 0B 09 44 49 59 2D 73 65 6E 73 6F 72"
            ),
            ("beacon bthome button=press packet_id=9 --trigger", "02 01 06 08 16 D2 FC 44 00 09 3A 01"),
            ("advertise --name A --service 180D", "02 01 06 03 03 0D 18 02 09 41"),
            (
                "advertise --service-data 180F=64 --manufacturer FFFF=0102 --tx-power -4 --appearance 833",
                "02 01 06 02 0A FC 03 19 41 03 05 FF FF FF 01 02 04 16 0F 18 64"
            ),
            ("advertise --data 0303AAFE", "03 03 AA FE"), ("advertise --data 00FF", "00 FF"),
        ])
    func octets(_ arguments: String, _ text: String) throws {
        #expect(try data(arguments).hexadecimal() == text)
    }

    @Test("A name that does not fit goes into the scan response")
    func scanResponse() throws {
        let command = try #require(
            try BLE.parseAsRoot(words("advertise --service 6E400001-B5A3-F393-E0A9-E50E24DCCA9E --name Thermometer"))
                as? Advertise)
        #expect(try command.octets.data.count == 21)
        #expect(try command.octets.scanResponse == [12, 0x09] + Array("Thermometer".utf8))
    }

    @Test("Encrypted BTHome data matches the example in its specification")
    func encrypted() throws {
        let path = "/tmp/ble-keys-\(UInt64.random(in: 0 ... .max))"
        let file = try #require(fopen(path, "w"))
        fputs("54:48:E6:8F:80:A5 231d39c1d7cc1ab1aee224cd096db932\n", file)
        fclose(file)
        defer { unlink(path) }
        let octets = try data(
            "beacon bthome temperature=25.06 humidity=50.55 --keys \(path) --address 54:48:E6:8F:80:A5/P --counter 857870592"
        )
        #expect(
            octets.hexadecimal() == "02 01 06 12 16 D2 FC 41 A4 72 66 C9 5F 73 00 11 22 33 78 23 72 14")
        #expect(throws: CommandFailure(.usage, "\(path) has no key for 54:48:E6:8F:80:A6/P")) {
            try data(
                "beacon bthome temperature=25 --keys \(path) --address 54:48:E6:8F:80:A6/P --counter 1")
        }
    }

    @Test(
        "Invalid arguments are refused with a reason",
        arguments: [
            ("advertise", "there is nothing to advertise"),
            ("advertise --data 02 --name A", "leave out the other parts"),
            ("advertise --data 0", "at most 1650 octets"), ("advertise --scan-response 02", "requires --data"),
            ("advertise --service-data 180F", "UUID=HEX"), ("advertise --manufacturer 4C=00", "COMPANY=HEX"),
            ("advertise --name A --interval 5", "from 20 to 10240 ms"),
            ("beacon eddystone-uid 00 AABBCCDDEEFF", "20 hexadecimal digits, not 2"),
            ("beacon eddystone-url ftp://a", "begins with http:// or https://"),
            ("beacon eddystone-tlm --temperature 128", "from -127.99"),
            ("beacon eddystone-tlm --uptime -1", "--uptime"),
            ("beacon bthome temperature", "NAME=VALUE"),
            ("beacon bthome heat_index=1", "no measurement \"heat_index\""),
            ("beacon bthome battery=101010", "out of range"),
            ("beacon bthome battery=1 --counter 1", "give all of them"),
            ("beacon bthome text=0123456789012345678901234567890", "the limit is 31 octets"),
            ("advertise --service-data 180F=" + String(repeating: "00", count: 30), "does not fit"),
            ("advertise --data " + String(repeating: "00", count: 32), "32 octets need --extended"),
            ("advertise --data " + String(repeating: "00", count: 1651) + " --extended", "at most 1650 octets"),
            ("advertise --name A --phy 2m,coded", "such as coded,2m"), ("advertise --name A --sid 16", "0 to 15"),
            ("advertise --name A --events 0", "1 to 255"), ("advertise --name A --power 21", "-127 to 20"),
            ("advertise --data 01 --scan-response 02 --extended --no-connectable", "stands alone"),
            ("advertise --name A --directed C0:11:22:33:44:55", "carries no data without --extended"),
            ("advertise --directed C0:11:22:33:44:55 --no-connectable", "leave out --no-connectable"),
            ("advertise --name A --high-duty", "requires --directed"),
            ("advertise --directed C0:11:22:33:44:55 --high-duty --sid 1", "without extended advertising"),
        ])
    func refusals(_ arguments: String, _ reason: String) {
        let error = #expect(throws: (any Error).self) { try data(arguments) }
        let failure = error.map { BLE.failure(of: $0) }
        #expect(failure?.status == .usage && failure?.message?.contains(reason) == true, "\(failure?.message ?? "")")
    }

    @Test(
        "PHYs are parsed as a primary and a secondary PHY",
        arguments: [
            ("1m", AdvertisingPHY.le1M, AdvertisingPHY.le1M), ("2m", .le1M, .le2M), ("coded", .leCoded, .leCoded),
            ("coded,2m", .leCoded, .le2M), ("1M,Coded", .le1M, .leCoded),
        ])
    func phys(_ text: String, _ primary: AdvertisingPHY, _ secondary: AdvertisingPHY) {
        #expect(AdvertisingPHYs(argument: text) == AdvertisingPHYs(primary: primary, secondary: secondary))
    }

    @Test("Extended options imply extended PDUs, with all data in the advertising data")
    func extended() throws {
        let command = try #require(
            try BLE.parseAsRoot([
                "advertise", "--name", String(repeating: "n", count: 60), "--sid", "3", "--anonymous", "--events", "5",
                "--power", "-4",
            ]) as? Advertise)
        let (data, response) = try command.octets
        #expect(data.count == 3 + 62 && response.isEmpty)
        let parameters = command.extended.parameters(
            data: data, scanResponse: response, isConnectable: command.connectable,
            interval: .milliseconds(100)...(.milliseconds(100)))
        #expect(!parameters.isConnectable && parameters.maximumEvents == 5 && parameters.transmitPower == -4)
        #expect(parameters.extended == ExtendedAdvertising(sid: 3, isAnonymous: true, includesTransmitPower: true))
    }

    @Test(
        "Directed advertising has data only with --extended",
        arguments: [
            ("", [UInt8](), false), (" --high-duty", [], true), (" --extended --name A", [2, 1, 6, 2, 9, 0x41], false),
        ])
    func directed(_ options: String, _ data: [UInt8], _ isHighDutyCycle: Bool) throws {
        let command = try #require(
            try BLE.parseAsRoot(words("advertise --directed C0:11:22:33:44:55/P" + options)) as? Advertise)
        let octets = try command.octets
        #expect(octets.data == data && octets.scanResponse == [] && command.extended.isSet)
        let parameters = command.extended.parameters(
            data: octets.data, scanResponse: [], isConnectable: true, interval: .seconds(1)...(.seconds(1)))
        #expect(parameters.peer == PeerID(DeviceAddress(0xC011_2233_4455, kind: .public)))
        #expect(parameters.isHighDutyCycle == isHighDutyCycle)
    }
}
