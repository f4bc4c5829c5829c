import BluetoothBase
import BluetoothGAP
import TestSupport
import Testing

struct ADViewTests {
    @Test(
        arguments: [
            ("03 03 0D 18", "180D", true),
            ("03 03 0D 18", "180F", false),
            ("05 02 0F 18 0D 18", "180D", true),
            ("04 02 0F 18 0D", "180D", false),
            ("04 02 0D 18 0F", "180D", true),
            ("02 02 0D", "180D", false),
            ("05 05 0D 18 00 00", "180D", true),
            ("05 05 0D 18 01 00", "0001180D", true),
            ("11 07 FB 34 9B 5F 80 00 00 80 00 10 00 00 0D 18 00 00", "180D", true),
            (
                "11 06 CF C1 52 32 46 A1 9A B8 55 4C A1 6B 11 0D 3A 24", "243A0D11-6BA1-4C55-B89A-A1463252C1CF",
                true
            ),
            // Service data and solicitations are not lists of services.
            ("03 16 0D 18", "180D", false),
            ("03 14 0D 18", "180D", false),
        ] as [(String, BluetoothUUID, Bool)])
    func `services are found in every list`(_ data: String, _ uuid: BluetoothUUID, _ expected: Bool) {
        let data = bytes(data)
        #expect(ADView(data.span).contains(serviceUUID: uuid) == expected)
    }

    @Test(
        arguments: [
            ("03 09 41 42", "41 42"), ("03 08 41 42", "41 42"), ("03 08 41 42 04 09 41 42 43", "41 42 43"),
            ("01 09 03 08 41 42", "41 42"), ("01 09", nil), ("02 01 06", nil),
        ])
    func `the complete name takes precedence over the shortened name`(_ data: String, _ expected: String?) {
        let data = bytes(data)
        var name: String?
        if let octets = ADView(data.span).localName { name = octets.hexadecimal() }
        #expect(name == expected)
    }

    @Test(
        arguments: [
            ("02 0A F4", -12), ("02 0A 04 02 0A 08", 4), ("01 0A 02 0A 08", 8), ("02 01 06", nil),
        ] as [(String, Int8?)])
    func `the transmit power is that of the first valid structure`(_ data: String, _ expected: Int8?) {
        let data = bytes(data)
        #expect(ADView(data.span).txPowerLevel == expected)
    }

    @Test func `the first flags structure is returned, and an empty one is ignored`() {
        let data = bytes("02 01 06 02 01 00"), none = bytes("01 01")
        #expect(ADView(data.span).flags == [.generalDiscoverable, .brEDRNotSupported])
        #expect(ADView(none.span).flags == nil)
    }

    @Test(
        arguments: [
            (0x004C, "02 15"), (0x0059, ""), (0x0075, nil),
        ] as [(UInt16, String?)])
    func `manufacturer data is found by its company ID`(_ companyID: UInt16, _ expected: String?) {
        let data = bytes("02 FF 75 03 FF 59 00 05 FF 4C 00 02 15")
        var found: String?
        if let octets = ADView(data.span).manufacturerData(companyID: companyID) { found = octets.hexadecimal() }
        #expect(found == expected)
    }

    @Test(
        arguments: [
            ("FEAA", "10 EE"), ("0001180D", "AA"), ("243A0D11-6BA1-4C55-B89A-A1463252C1CF", "BB"), ("180F", nil),
        ] as [(BluetoothUUID, String?)])
    func `service data is found by a 16-bit, 32-bit or 128-bit UUID`(_ uuid: BluetoothUUID, _ expected: String?) {
        let data = bytes(
            "05 16 AA FE 10 EE 06 20 0D 18 01 00 AA 12 21 CF C1 52 32 46 A1 9A B8 55 4C A1 6B 11 0D 3A 24 BB")
        var found: String?
        if let octets = ADView(data.span).serviceData(uuid) { found = octets.hexadecimal() }
        #expect(found == expected)
    }
}
