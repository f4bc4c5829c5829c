import BluetoothBase
import BluetoothGAP
import TestSupport
import Testing

private func decode(_ advertisingData: String, _ scanResponseData: String = "") -> AdvertisementData {
    AdvertisementData(
        advertisingData: bytes(advertisingData).span, scanResponseData: bytes(scanResponseData).span)
}

struct AdvertisementDataTests {
    @Test func `every property is decoded from its structure`() {
        let data = decode(
            """
            02 01 06 05 02 0D 18 0F 18 03 14 05 18 02 0A F4 03 19 41 03 05 FF 4C 00 02 15 05 16 AA FE 10 EE
            05 09 50 6F 6C 61 03 12 06 00
            """)
        var expected = AdvertisementData()
        expected.flags = [.generalDiscoverable, .brEDRNotSupported]
        expected.serviceUUIDs = ["180D", "180F"]
        expected.isServiceListIncomplete = true
        expected.solicitedServiceUUIDs = ["1805"]
        expected.txPowerLevel = -12
        expected.appearance = Appearance(category: 13, subcategory: 1)
        expected.manufacturerData = [.init(companyID: 0x004C, data: [0x02, 0x15])]
        expected.serviceData = [.init(uuid: "FEAA", data: [0x10, 0xEE])]
        expected.localName = .complete("Pola")
        expected.other = [.init(type: ADType(rawValue: 0x12), data: [0x06, 0x00])]
        #expect(data == expected)
        #expect(data.appearance?.description == "Heart Rate Sensor (0x0341)")
    }

    @Test(
        "G1: bad structures are skipped and good ones kept",
        arguments: [
            // Too short for their types
            ("01 01 01 0A 02 19 41 02 FF 4C 02 16 AA 03 03 0D 18", ["180D"]),
            // Ragged lists
            ("04 02 0D 18 0F", ["180D"]), ("02 02 0D", []), ("06 04 0D 18 00 00 01", ["180D"]),
            // A UUID twice, in different forms
            ("05 03 0D 18 0D 18 05 05 0D 18 00 00", ["180D"]),
            // A structure past the end
            ("03 03 0D 18 05 03 0F 18", ["180D"]),
        ] as [(String, [BluetoothUUID])])
    func malformed(_ data: String, _ services: [BluetoothUUID]) {
        let data = decode(data)
        #expect(data.serviceUUIDs == services)
        #expect(data.flags == nil && data.txPowerLevel == nil && data.appearance == nil)
        #expect(data.manufacturerData == [] && data.serviceData == [] && data.localName == nil)
    }

    @Test(
        "G1: the complete name takes precedence, then the first; invalid UTF-8 is replaced",
        arguments: [
            ("03 09 C3 B6", .complete("ö")),
            ("03 09 41 FF", .complete("A\u{FFFD}")),
            ("02 09 C3", .complete("\u{FFFD}")),
            ("01 09", nil),
            ("01 09 02 09 41", .complete("A")),
            ("02 08 41 03 09 41 42", .complete("AB")),
            ("03 09 41 42 02 08 41", .complete("AB")),
            ("02 09 41 02 09 42", .complete("A")),
            ("02 08 41 02 08 42", .shortened("A")),
        ] as [(String, AdvertisementData.LocalName?)])
    func names(_ data: String, _ expected: AdvertisementData.LocalName?) {
        #expect(decode(data).localName == expected)
    }

    @Test func `G1: the first of several flags, transmit powers or appearances is used`() {
        let data = decode("02 01 06 02 01 05 02 0A 04 02 0A 05 03 19 C0 00 03 19 40 00")
        #expect(data.flags == AdvertisingFlags(rawValue: 6))
        #expect(data.txPowerLevel == 4)
        #expect(data.appearance == .watch)
    }

    @Test func `a scan response adds to the advertising data`() {
        let data = decode(
            "02 01 06 03 03 0D 18 02 08 41 04 FF 4C 00 01", "05 03 0F 18 0D 18 03 09 41 42 04 FF 4C 00 02")
        #expect(data.serviceUUIDs == ["180D", "180F"])
        #expect(data.localName == .complete("AB"))
        #expect(
            data.manufacturerData == [.init(companyID: 0x4C, data: [1]), .init(companyID: 0x4C, data: [2])])
    }

    @Test func `a scan response that repeats the advertising data adds nothing`() {
        let text = "02 01 06 03 03 0D 18 04 FF 4C 00 01 04 16 AA FE 01"
        #expect(decode(text, text) == decode(text))
    }
}
