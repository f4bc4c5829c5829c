import BluetoothBase
import BluetoothGAP
import TestSupport
import Testing

private func services(_ count: Int) -> [BluetoothUUID] { (0..<count).map { BluetoothUUID(0x1800 + UInt16($0)) } }
private let custom: BluetoothUUID = "243A0D11-6BA1-4C55-B89A-A1463252C1CF"
private let customBytes = "CF C1 52 32 46 A1 9A B8 55 4C A1 6B 11 0D 3A 24"

private func advertisement(_ body: (inout AdvertisementData) -> Void) -> AdvertisementData {
    var advertisement = AdvertisementData()
    body(&advertisement)
    return advertisement
}

struct AdvertisingPayloadTests {
    @Test(
        "how structures are divided between advertising data and scan response",
        arguments: [
            ("nothing", advertisement { _ in }, "", ""),
            (
                "all of it in the advertising data",
                advertisement {
                    $0.flags = [.generalDiscoverable, .brEDRNotSupported]
                    $0.serviceUUIDs = ["180D"]
                    $0.localName = .complete("Polar")
                }, "02 01 06 03 03 0D 18 06 09 50 6F 6C 61 72", ""
            ),
            (
                "a name that does not fit goes into the scan response",
                advertisement {
                    $0.flags = [.generalDiscoverable, .brEDRNotSupported]
                    $0.serviceUUIDs = [custom]
                    $0.localName = .complete("12345678901")
                }, "02 01 06 11 07 \(customBytes)", "0C 09 31 32 33 34 35 36 37 38 39 30 31"
            ),
            (
                "one letter less fits",
                advertisement {
                    $0.flags = [.generalDiscoverable, .brEDRNotSupported]
                    $0.serviceUUIDs = [custom]
                    $0.localName = .complete("12345678")
                }, "02 01 06 11 07 \(customBytes) 09 09 31 32 33 34 35 36 37 38", ""
            ),
            (
                "each length of UUID has its list",
                advertisement { $0.serviceUUIDs = ["0001180D", "180D", custom, "180F"] },
                "05 03 0D 18 0F 18 05 05 0D 18 01 00 11 07 \(customBytes)", ""
            ),
            (
                "a list that does not fit moves as a whole",
                advertisement { $0.serviceUUIDs = services(8) + [custom] },
                "11 03 00 18 01 18 02 18 03 18 04 18 05 18 06 18 07 18",
                "11 07 \(customBytes)"
            ),
            (
                "a list of services known to be incomplete says so",
                advertisement {
                    $0.serviceUUIDs = ["180D"]
                    $0.isServiceListIncomplete = true
                }, "03 02 0D 18", ""
            ),
            (
                "everything else follows the services, the name last",
                advertisement {
                    $0.localName = .complete("A")
                    $0.solicitedServiceUUIDs = ["1805"]
                    $0.txPowerLevel = -12
                    $0.appearance = .watch
                    $0.manufacturerData = [.init(companyID: 0x004C, data: [1])]
                    $0.serviceData = [.init(uuid: "FEAA", data: [2]), .init(uuid: "0001180D", data: [3])]
                    $0.other = [.init(type: ADType(rawValue: 0x1C), data: [0])]
                }, "03 14 05 18 02 0A F4 03 19 C0 00 04 FF 4C 00 01 04 16 AA FE 02 06 20 0D 18 01 00 03 02 1C 00",
                "02 09 41"
            ),
        ] as [(String, AdvertisementData, String, String)])
    func layout(_ title: String, _ advertisement: AdvertisementData, _ first: String, _ second: String) throws {
        let payload = try AdvertisingPayload(advertisement)
        #expect(payload.advertisingData == bytes(first), "\(title)")
        #expect(payload.scanResponseData == bytes(second), "\(title)")
    }

    @Test func `a list that fits into neither half is split, and both parts are marked incomplete`() throws {
        let payload = try AdvertisingPayload(
            advertisement {
                $0.flags = [.brEDRNotSupported]
                $0.serviceUUIDs = services(27)
            })
        // 3 octets of flags and 2 of header leave 26 of 31, 13 UUIDs; 14 more take 30 of 31.
        #expect(payload.advertisingData.prefix(5) == [0x02, 0x01, 0x04, 0x1B, 0x02])
        #expect(payload.advertisingData.count == 31)
        #expect(payload.scanResponseData.prefix(4) == [0x1D, 0x02, 0x0D, 0x18])
        #expect(payload.scanResponseData.count == 30)
    }

    @Test(
        "a name too long for either half is shortened at a character boundary, in the half with more space",
        arguments: [
            // 31 - 2 octets in the scan response
            (String(repeating: "a", count: 30), String(repeating: "a", count: 29)),
            // 2 octets each: 14 fit
            (String(repeating: "ö", count: 20), String(repeating: "ö", count: 14)),
            // 11 octets for a character of two code points joined: 2 fit
            (String(repeating: "👩‍🚀", count: 3), String(repeating: "👩‍🚀", count: 2)),
        ])
    func shortened(_ name: String, _ expected: String) throws {
        let payload = try AdvertisingPayload(
            advertisement {
                $0.flags = [.brEDRNotSupported]
                $0.localName = .complete(name)
            })
        #expect(payload.advertisingData == bytes("02 01 04"))
        #expect(
            payload.scanResponseData == [UInt8(expected.utf8.count + 1), 0x08] + Array(expected.utf8))
    }

    @Test func `the shortened name goes where there is more space`() throws {
        let payload = try AdvertisingPayload(
            advertisement {
                $0.localName = .complete("ABCDEFGH")
                $0.manufacturerData = [
                    .init(companyID: 1, data: [UInt8](repeating: 0, count: 20)),
                    .init(companyID: 2, data: [UInt8](repeating: 0, count: 24)),
                ]
            })
        #expect(payload.advertisingData.suffix(7) == bytes("06 08 41 42 43 44 45"))
        #expect(payload.scanResponseData.count == 28)
    }

    @Test(
        "the error names the structure that does not fit, and by how many octets",
        arguments: [
            (
                advertisement { $0.manufacturerData = [.init(companyID: 1, data: [UInt8](repeating: 0, count: 30))] },
                AdvertisingPayloadError(type: .manufacturerSpecificData, excess: 3)
            ),
            (
                advertisement { $0.serviceUUIDs = [custom, custom, custom] },
                AdvertisingPayloadError(type: .completeServiceUUIDs128, excess: 3)
            ),
            (
                advertisement { $0.serviceUUIDs = services(30) },
                AdvertisingPayloadError(type: .completeServiceUUIDs16, excess: 3)
            ),
            (
                advertisement {
                    $0.localName = .complete("Name")
                    $0.manufacturerData = [
                        .init(companyID: 1, data: [UInt8](repeating: 0, count: 27)),
                        .init(companyID: 2, data: [UInt8](repeating: 0, count: 26)),
                    ]
                },
                AdvertisingPayloadError(type: .completeLocalName, excess: 5)
            ),
        ] as [(AdvertisementData, AdvertisingPayloadError)])
    func excess(_ advertisement: AdvertisementData, _ expected: AdvertisingPayloadError) {
        #expect(throws: expected) { try AdvertisingPayload(advertisement) }
    }

    @Test func `flags that do not fit into the advertising data are an error`() {
        let limits = AdvertisingPayload.Limits(advertisingData: 2, scanResponseData: 31)
        #expect(throws: AdvertisingPayloadError(type: .flags, excess: 1)) {
            try AdvertisingPayload(advertisement { $0.flags = [] }, limits: limits)
        }
    }

    @Test func `an error's description names the structure and the number of excess octets`() {
        let error = AdvertisingPayloadError(type: .manufacturerSpecificData, excess: 3)
        #expect(error.description == "Manufacturer Specific Data does not fit: 3 octets too many")
    }

    @Test func `in extended advertising, a structure is limited to 255 octets after its length octet`() throws {
        let limits = AdvertisingPayload.Limits(advertisingData: 1650, scanResponseData: 0)
        let longest = advertisement {
            $0.manufacturerData = [.init(companyID: 1, data: [UInt8](repeating: 0, count: 252))]
        }
        #expect(try AdvertisingPayload(longest, limits: limits).advertisingData.count == 256)
        let tooLong = advertisement {
            $0.manufacturerData = [.init(companyID: 1, data: [UInt8](repeating: 0, count: 253))]
        }
        #expect(throws: AdvertisingPayloadError(type: .manufacturerSpecificData, excess: 1)) {
            try AdvertisingPayload(tooLong, limits: limits)
        }
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func `a payload reads back as it was written`(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let original = advertisement {
            $0.flags = AdvertisingFlags(rawValue: .random(in: 0...15, using: &generator))
            $0.serviceUUIDs = services(.random(in: 0...5, using: &generator))
            if Bool.random(using: &generator) { $0.solicitedServiceUUIDs = ["1805", "0001180D"] }
            if Bool.random(using: &generator) { $0.txPowerLevel = .random(in: -127...20, using: &generator) }
            if Bool.random(using: &generator) { $0.appearance = Appearance(rawValue: 0x0341) }
            let data = generator.bytes(.random(in: 0...10, using: &generator))
            if Bool.random(using: &generator) { $0.manufacturerData = [.init(companyID: 0x59, data: data)] }
            $0.localName = .complete("Name")
        }
        let payload = try AdvertisingPayload(original)
        #expect(payload.advertisingData.count <= 31 && payload.scanResponseData.count <= 31)
        let read = AdvertisementData(
            advertisingData: payload.advertisingData.span, scanResponseData: payload.scanResponseData.span)
        #expect(read == original)
    }
}
