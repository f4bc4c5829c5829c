import BluetoothBase
import BluetoothValues
import TestSupport
import Testing

/// The examples of each format's specification.
@Suite("Advertised formats")
struct AdvertisedFormatTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var value: any AdvertisedValue
        var text: String
        /// `name value unit`, joined by commas.
        var says: String

        init(_ text: String, _ value: any AdvertisedValue, _ says: String) {
            self.text = text
            self.value = value
            self.says = says
        }

        var testDescription: String { "\(type(of: value).formatName) \(text)" }
    }

    @Test("values from the specifications are encoded and decoded", arguments: try cases)
    func values(_ test: Case) throws {
        try check(test.value, test)
    }

    private func check<Value: AdvertisedValue>(_ value: Value, _ test: Case) throws {
        #expect(try Value(decoding: bytes(test.text)) == value)
        #expect(value.encoded == bytes(test.text))
        #expect(description(value.fields) == test.says)
        let found = try #require(AdvertisedFormats.value(of: bytes(test.text), in: Value.container))
        #expect(found as? Value == value)
    }

    static let eddystoneURL = EddystoneURL(url: "http://www.minewtech.com", txPower: 4)
    static let eddystoneUID = EddystoneUID(
        namespace: bytes("00 01 02 03 04 05 06 07 08 09"), instance: bytes("AA BB CC DD EE FF"), txPower: -18)

    static var cases: [Case] {
        get throws {
            [
                Case(
                    "02 15 FB 0B 57 A2 82 28 44 CD 91 3A 94 A1 22 BA 12 06 00 01 00 02 D1",
                    IBeacon(uuid: "FB0B57A2-8228-44CD-913A-94A122BA1206", major: 1, minor: 2, measuredPower: -47),
                    "uuid FB0B57A2-8228-44CD-913A-94A122BA1206, major 1, minor 2, measured_power -47 dBm"),
                Case(
                    "00 EE 00 01 02 03 04 05 06 07 08 09 AA BB CC DD EE FF 00 00", try #require(eddystoneUID),
                    "namespace 00010203040506070809, instance AABBCCDDEEFF, tx_power_at_0_m -18 dBm"),
                Case(
                    "10 04 00 6D 69 6E 65 77 74 65 63 68 07", try #require(eddystoneURL),
                    "url http://www.minewtech.com, tx_power_at_0_m 4 dBm"),
                // 8.8 fixed point: 0x0180 is 1.5, 0xFE00 is -2.
                Case(
                    "20 00 0B B8 01 80 00 00 00 2A 00 00 00 65",
                    EddystoneTLM(
                        batteryVoltage: 3000, temperature: 1.5, advertisementCount: 42, tenthsOfSecondsSinceStart: 101),
                    "battery 3000 mV, temperature 1.50 °C, advertisements 42, uptime 10.1 s"),
                Case(
                    "20 00 00 00 80 00 FF FF FF FF 00 00 00 00",
                    EddystoneTLM(
                        batteryVoltage: nil, temperature: nil, advertisementCount: .max, tenthsOfSecondsSinceStart: 0),
                    "advertisements 4294967295, uptime 0.0 s"),
                Case(
                    "20 00 00 01 FE 00 00 00 00 00 00 00 00 00",
                    EddystoneTLM(
                        batteryVoltage: 1, temperature: -2, advertisementCount: 0, tenthsOfSecondsSinceStart: 0),
                    "battery 1 mV, temperature -2.00 °C, advertisements 0, uptime 0.0 s"),
            ] + ruuviCases
        }
    }

    /// Those of Ruuvi's documentation: valid data, the greatest values, the least, and invalid ones.
    static let ruuviCases = [
        Case(
            "03 29 1A 1E CE 1E FC 18 F9 42 02 CA 0B 53",
            RuuviTag3(
                humidity: 20.5, temperature: 26.3, pressure: 102_766, acceleration: .init(x: -1000, y: -1726, z: 714),
                batteryVoltage: 2899),
            "temperature 26.30 °C, humidity 20.5 %, pressure 102766 Pa, acceleration_x -1000 mG, "
                + "acceleration_y -1726 mG, acceleration_z 714 mG, battery 2899 mV"),
        Case(
            "03 FF 7F 63 FF FF 7F FF 7F FF 7F FF FF FF",
            RuuviTag3(
                humidity: 127.5, temperature: 127.99, pressure: 115_535,
                acceleration: .init(x: 32767, y: 32767, z: 32767), batteryVoltage: 65535),
            "temperature 127.99 °C, humidity 127.5 %, pressure 115535 Pa, acceleration_x 32767 mG, "
                + "acceleration_y 32767 mG, acceleration_z 32767 mG, battery 65535 mV"),
        Case(
            "03 00 FF 63 00 00 80 01 80 01 80 01 00 00",
            RuuviTag3(
                humidity: 0, temperature: -127.99, pressure: 50_000,
                acceleration: .init(x: -32767, y: -32767, z: -32767), batteryVoltage: 0),
            "temperature -127.99 °C, humidity 0.0 %, pressure 50000 Pa, acceleration_x -32767 mG, "
                + "acceleration_y -32767 mG, acceleration_z -32767 mG, battery 0 mV"),
        Case(
            "05 12 FC 53 94 C3 7C 00 04 FF FC 04 0C AC 36 42 00 CD CB B8 33 4C 88 4F",
            RuuviTag5(
                temperature: 24.3, humidity: 53.49, pressure: 100_044, acceleration: .init(x: 4, y: -4, z: 1036),
                batteryVoltage: 2977, txPower: 4, movementCount: 66, sequenceNumber: 205,
                address: DeviceAddress(0xCBB8_334C_884F, kind: .random)),
            "temperature 24.300 °C, humidity 53.4900 %, pressure 100044 Pa, acceleration_x 4 mG, acceleration_y -4 mG, "
                + "acceleration_z 1036 mG, battery 2977 mV, tx_power 4 dBm, movements 66, sequence_number 205"),
        Case(
            "05 7F FF FF FE FF FE 7F FF 7F FF 7F FF FF DE FE FF FE CB B8 33 4C 88 4F",
            RuuviTag5(
                temperature: 163.835, humidity: 163.835, pressure: 115_534,
                acceleration: .init(x: 32767, y: 32767, z: 32767), batteryVoltage: 3646, txPower: 20,
                movementCount: 254, sequenceNumber: 65534, address: DeviceAddress(0xCBB8_334C_884F, kind: .random)),
            "temperature 163.835 °C, humidity 163.8350 %, pressure 115534 Pa, acceleration_x 32767 mG, "
                + "acceleration_y 32767 mG, acceleration_z 32767 mG, battery 3646 mV, tx_power 20 dBm, movements 254, "
                + "sequence_number 65534"),
        Case(
            "05 80 01 00 00 00 00 80 01 80 01 80 01 00 00 00 00 00 CB B8 33 4C 88 4F",
            RuuviTag5(
                temperature: -163.835, humidity: 0, pressure: 50_000,
                acceleration: .init(x: -32767, y: -32767, z: -32767), batteryVoltage: 1600, txPower: -40,
                movementCount: 0, sequenceNumber: 0, address: DeviceAddress(0xCBB8_334C_884F, kind: .random)),
            "temperature -163.835 °C, humidity 0.0000 %, pressure 50000 Pa, acceleration_x -32767 mG, "
                + "acceleration_y -32767 mG, acceleration_z -32767 mG, battery 1600 mV, tx_power -40 dBm, movements 0, "
                + "sequence_number 0"),
        Case("05 80 00 FF FF FF FF 80 00 80 00 80 00 FF FF FF FF FF FF FF FF FF FF FF", RuuviTag5(), ""),
    ]

    @Test("exposure notifications are opaque")
    func exposureNotification() throws {
        let data = [UInt8](0..<20)
        let value = try ExposureNotification(decoding: data)
        #expect(value.identifier == [UInt8](0..<16) && value.metadata == [16, 17, 18, 19])
        #expect(value.encoded == data)
        #expect(AdvertisedFormats.value(of: data, in: .serviceData("FD6F")) as? ExposureNotification == value)
    }

    @Test("each format rejects truncated and overlong data", arguments: try cases)
    func lengths(_ test: Case) {
        let data = bytes(test.text)
        // An address on the Web may end anywhere, and the reserved octets of a UID may be missing.
        let isVariable = test.value is EddystoneURL
        for count in 0..<(isVariable ? 4 : test.value is EddystoneUID ? 18 : data.count) {
            #expect(AdvertisedFormats.value(of: Array(data.prefix(count)), in: type(of: test.value).container) == nil)
        }
        if !isVariable { #expect(AdvertisedFormats.value(of: data + [0], in: type(of: test.value).container) == nil) }
    }

    @Test(
        "data that is not in a known format is not decoded",
        arguments: [
            // Apple's, but no iBeacon; an encrypted TLM; an Eddystone identifier that is ephemeral; reserved codes of a
            // URL.
            (AdvertisedContainer.manufacturerData(0x004C), "10 05 01 98 44 33 22"),
            (.serviceData("FEAA"), "20 01 00 00 00 00 00 00 00 00 00 00 00 00"),
            (.serviceData("FEAA"), "30 00 01 02 03 04 05 06 07 08"),
            (.serviceData("FEAA"), "10 00 04 61"), (.serviceData("FEAA"), "10 00 00 20"),
            (.serviceData("FEAA"), "10 00 00 7F"), (.serviceData("FEAA"), "10 00 00 0E"),
            (.manufacturerData(0x0499), "04 00"),
            (.manufacturerData(0x0499), "03 29 1A 64 CE 1E FC 18 F9 42 02 CA 0B 53"),
            (.serviceData("180F"), "64"),
        ])
    func unknown(_ container: AdvertisedContainer, _ text: String) {
        #expect(AdvertisedFormats.value(of: bytes(text), in: container) == nil)
    }

    @Test(
        "web addresses use the shortest encoding",
        arguments: [
            ("https://goo.gl/Aq18zF", "10 EC 03 67 6F 6F 2E 67 6C 2F 41 71 31 38 7A 46"),
            ("https://www.example.com/", "10 EC 01 65 78 61 6D 70 6C 65 00"),
            ("http://example.org", "10 EC 02 65 78 61 6D 70 6C 65 08"),
            ("http://a.info/b.gov", "10 EC 02 61 04 62 0D"),
            ("https://", nil), ("ftp://a", nil), ("http://a b", nil), ("http://ä", nil),
            ("https://0123456789abcdefgh", nil),
        ] as [(String, String?)])
    func urls(_ url: String, _ text: String?) {
        #expect(EddystoneURL(url: url, txPower: -20)?.encoded == text.map(bytes))
    }

    @Test("an identifier of the wrong length is rejected")
    func uidLengths() {
        #expect(EddystoneUID(namespace: [1], instance: bytes("AA BB CC DD EE FF"), txPower: 0) == nil)
        #expect(EddystoneUID(namespace: [UInt8](repeating: 0, count: 10), instance: [1], txPower: 0) == nil)
    }

    @Test("numbers out of range are clamped")
    func clamped() throws {
        let hot = RuuviTag5(
            temperature: 1000, humidity: -1, pressure: 1, batteryVoltage: 9000, txPower: 127, movementCount: 255,
            sequenceNumber: 65535)
        let read = try RuuviTag5(decoding: hot.encoded)
        #expect(read.temperature == 163.835 && read.humidity == 0 && read.pressure == 50_000)
        #expect(read.batteryVoltage == 3646 && read.txPower == 20)
        #expect(read.movementCount == 254 && read.sequenceNumber == 65534)
    }
}

/// `name value unit`, joined by commas.
func description(_ fields: [AdvertisedField]) -> String {
    fields.map { field in
        let value: String =
            switch field.value {
            case .number(let number): number.description
            case .flag(let flag): "\(flag)"
            case .text(let text): text
            }
        return "\(field.name) \(value)" + (field.unit.isEmpty ? "" : " \(field.unit)")
    }.joined(separator: ", ")
}
