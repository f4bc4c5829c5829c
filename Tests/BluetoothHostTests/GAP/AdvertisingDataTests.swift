import BluetoothBase
import BluetoothCrypto
import BluetoothGAP
import BluetoothHCI
import BluetoothSimulation
import BluetoothValues
import TestSupport
import Testing

@testable import BluetoothHost
@testable import BluetoothUsers

/// The AD types (Core 5.4, Vol 3, Part C, 11; Core Supplement, Part A).
@Suite("GAP: advertising data")
struct AdvertisingDataTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let code: String
        let octets: String
        let advertisement: AdvertisementData

        init(_ code: String, _ octets: String, _ fill: (inout AdvertisementData) -> Void) {
            self.code = code
            self.octets = octets
            var advertisement = AdvertisementData()
            fill(&advertisement)
            self.advertisement = advertisement
        }

        var testDescription: String { "\(code): \(octets)" }
    }

    static let cases: [Case] = [
        Case("GAP/ADV/BV-01", "05 03 0D18 0F18") { $0.serviceUUIDs = ["180D", "180F"] },
        Case("GAP/ADV/BV-01", "11 07 74725A66688CB0B26D4F53214B539D01") {
            $0.serviceUUIDs = ["019D534B-2153-4F6D-B2B0-8C68665A7274"]
        },
        Case("GAP/ADV/BV-02", "04 09 41 62 63") { $0.localName = .complete("Abc") },
        Case("GAP/ADV/BV-02", "03 08 41 62") { $0.localName = .shortened("Ab") },
        Case("GAP/ADV/BV-03", "02 01 06") { $0.flags = [.generalDiscoverable, .brEDRNotSupported] },
        Case("GAP/ADV/BV-04", "06 FF 4C00 010203") {
            $0.manufacturerData = [.init(companyID: 0x004C, data: [1, 2, 3])]
        },
        Case("GAP/ADV/BV-05", "02 0A F8") { $0.txPowerLevel = -8 },
        Case("GAP/ADV/BV-08", "05 12 0600 800C") {
            $0.connectionIntervalRange = .init(minimum: 6, maximum: 3200)
        },
        Case("GAP/ADV/BV-08, without a maximum", "05 12 0600 FFFF") {
            $0.connectionIntervalRange = .init(minimum: 6, maximum: nil)
        },
        Case("GAP/ADV/BV-09", "03 14 0D18") { $0.solicitedServiceUUIDs = ["180D"] },
        Case("GAP/ADV/BV-10", "04 16 0F18 64") { $0.serviceData = [.init(uuid: "180F", data: [100])] },
        Case("GAP/ADV/BV-11", "03 19 4103") { $0.appearance = Appearance(category: 13, subcategory: 1) },
        Case("GAP/ADV/BV-12", "07 17 0100000000A0") {
            $0.targetAddresses = [DeviceAddress(0xA0_00_00_00_00_01, kind: .public)]
        },
        Case("GAP/ADV/BV-13", "07 18 0200000000C0") {
            $0.targetAddresses = [DeviceAddress(0xC0_00_00_00_00_02, kind: .random)]
        },
        Case("GAP/ADV/BV-14", "03 1A A000") { $0.advertisingInterval = .milliseconds(100) },
        Case("GAP/ADV/BV-17", "08 24 17 2F2F612E6465") { $0.uri = "https://a.de" },
        Case("GAP/ADV/BV-17", "06 24 01 74656C3A") { $0.uri = "tel:" },
        Case("GAP/ADV/BV-18", "04 2F 008001") { $0.advertisingInterval = .milliseconds(61440) },
        Case("GAP/ADV/BV-19", "03 27 0901") { $0.leSupportedFeatures = 0x0109 },
    ]

    @Test("Advertised data is encoded octet by octet as expected, and decodes to the same values", arguments: cases)
    func sent(_ one: Case) {
        let user = UserID(number: 1)
        var scene = SharedScene(users: user)
        scene.perform(.advertise(AdvertisingRequest(one.advertisement)), 1, of: user)
        // Flags are added where there are none.
        let data = one.advertisement.flags == nil ? bytes("02 01 06" + one.octets) : bytes(one.octets)
        let expected = [UInt8(data.count)] + data + [UInt8](repeating: 0, count: 31 - data.count)
        #expect(scene.parameters[.leSetAdvertisingData] == expected)
        #expect(scene.parameters[.leSetScanResponseData]?.first == 0)
        var advertisement = one.advertisement
        advertisement.flags = [.generalDiscoverable, .brEDRNotSupported]
        #expect(AdvertisementData(data.span) == advertisement)
    }

    @Test(
        "GAP/ADV/BV-02: the advertised name is the Device Name that a peer reads, or its beginning",
        arguments: [("04 09 41 62 63", AdvertisementData.LocalName.complete("Abc")), ("03 08 41 62", .shortened("Ab"))])
    func name(_ octets: String, _ name: AdvertisementData.LocalName) {
        let user = UserID(number: 1)
        var configuration = HostConfiguration(seed: 7)
        configuration.deviceName = "Abc"
        var scene = SharedScene(users: user, configuration: configuration)
        var advertisement = AdvertisementData()
        advertisement.localName = name
        scene.perform(.advertise(AdvertisingRequest(advertisement)), 1, of: user)
        let data = bytes("02 01 06" + octets)
        #expect(
            scene.parameters[.leSetAdvertisingData]
                == [UInt8(data.count)] + data + [UInt8](repeating: 0, count: 31 - data.count))
        #expect(scene.parameters[.leSetScanResponseData]?.first == 0)
        scene.reportConnection(0x41, role: .peripheral, peer: ScriptedController.peer)
        _ = scene.takePDUs()
        scene.silences = [bytes("09 05 0300 416263")]
        scene.receive(bytes("08 0100 FFFF 002A"), on: 0x41)
        #expect(scene.takePDUs().contains("09 05 03 00 41 62 63"))
    }

    @Test("GAP/ADV/BV-19: an application can advertise the features that the controller has")
    func features() throws {
        let user = UserID(number: 1)
        var answers = ScriptedController.answers()
        answers[.leReadLocalSupportedFeatures] = .complete(.success, [0x09, 0x01, 0, 0, 0, 0, 0, 0])
        var scene = SharedScene(users: user, answers: answers)
        var advertisement = AdvertisementData()
        advertisement.leSupportedFeatures = try #require(scene.host.host.controller).features.rawValue
        scene.perform(.advertise(AdvertisingRequest(advertisement)), 1, of: user)
        let data = bytes("02 01 06 03 27 0901")
        #expect(
            scene.parameters[.leSetAdvertisingData]
                == [UInt8(data.count)] + data + [UInt8](repeating: 0, count: 31 - data.count))
    }

    @Test("Fields without content, or with too little, are treated as absent")
    func absent() {
        let data = bytes("01 24 01 12 01 1A 01 27 01 17 02 18 01")
        let advertisement = AdvertisementData(data.span)
        #expect(advertisement.uri == nil && advertisement.connectionIntervalRange == nil)
        #expect(advertisement.advertisingInterval == nil && advertisement.targetAddresses == [])
    }

    // MARK: - Encrypted data

    static let material = EncryptedDataKeyMaterial(
        sessionKey: bytes("57A9DA12D12E6E131E20612AD10A6A19"), initializationVector: bytes("9E7A00EFB17AE746"))
    static let structures = bytes("0F 09 53686F7274204D696E692D427573 03 19 0A8C")
    /// The samples of the Core Supplement, Part A, 2.3: the randomizer, and the content of the AD structure.
    static let samples: [(randomizer: String, content: String)] = [
        ("18E157CADE", "18E157CADE 74E4DCAFDC51C7282810C2217F0E4CEF4343181F BA0069CC"),
        ("8D1C976E7A", "8D1C976E7A 35444076125788C238A58E8BD9CFF0DEFE251A8E 7275454C"),
    ]

    @Test("Encrypted data is advertised exactly as in the specification's samples", arguments: samples)
    func encrypted(_ randomizer: String, _ content: String) {
        let encrypted = EncryptedAdvertisingData(
            Self.structures, with: Self.material, randomizer: bytes(randomizer), cipher: AESCCM())
        let user = UserID(number: 1)
        var scene = SharedScene(users: user)
        var advertisement = AdvertisementData()
        advertisement.other = [.init(type: .encryptedData, data: encrypted.encoded)]
        scene.perform(.advertise(AdvertisingRequest(advertisement)), 1, of: user)
        // It leaves no room for flags.
        #expect(scene.parameters[.leSetScanResponseData] == [31, 30, 0x31] + bytes(content))
    }

    @Test(
        "GAP/ADV/BV-20, BV-21: each update of encrypted data changes all of it, and decrypts to the original",
        arguments: [[], [0, 0, 0]] as [[UInt8]])
    func changes(_ nonSignificant: [UInt8]) throws {
        var controller = ScriptedController.ready()
        var generator = SeededGenerator(seed: 3)
        let first = bytes("03 19 0A8C"), second = bytes("05 09 53686F72")
        var sent: [EncryptedAdvertisingData] = []
        for structures in [first, second, first] {
            // Octets behind the structures begin with a length of 0.
            let plain = structures + (structures == second ? nonSignificant : [])
            let encrypted = EncryptedAdvertisingData(plain, with: Self.material, using: &generator, cipher: AESCCM())
            let data = [UInt8(encrypted.encoded.count + 1), 0x31] + encrypted.encoded
            controller.commands.removeAll()
            try controller.host.startAdvertising(AdvertisingParameters(data: data), at: controller.now)
            controller.settle()
            let octets = try #require(controller.commands.last { $0.opcode == .leSetAdvertisingData }?.parameters)
            let onAir = Array(octets[1...].prefix(Int(octets[0])))
            let structure = try #require(AdvertisementData(onAir.span).other.first)
            #expect(structure.data.count == EncryptedAdvertisingData.randomizerLength + plain.count + 4)
            let received = try EncryptedAdvertisingData(decoding: structure.data.span)
            let opened = try #require(received.decrypted(with: Self.material, cipher: AESCCM()))
            #expect(opened == plain)
            #expect(AdvertisementData(opened.span) == AdvertisementData(structures.span))
            sent.append(received)
        }
        #expect(Set(sent.map(\.randomizer)).count == 3)
        #expect(Set(sent.map(\.ciphertext)).count == 3)
        #expect(Set(sent.map(\.tag)).count == 3)
    }

    @Test("GAP/SCN/BV-01: encrypted data decrypts only with its key, and only if it is unchanged", arguments: samples)
    func decrypted(_ randomizer: String, _ content: String) throws {
        var scanner = ScriptedController.ready()
        try scanner.host.startScanning(ScanParameters(isActive: false), at: scanner.now)
        scanner.settle()
        // ADV_NONCONN_IND of a peer.
        let report = bytes("02 01 03 00 0100 00EEFFC0") + [31, 30, 0x31] + bytes(content) + [0xD8]
        scanner.receive([0x04, 0x3E, UInt8(report.count)] + report)
        let data = try #require(scanner.seen.first).bytes
        #expect(data == [30, 0x31] + bytes(content))
        let structure = try #require(AdvertisementData(data.span).other.first)
        #expect(structure.type == .encryptedData)
        let encrypted = try EncryptedAdvertisingData(decoding: structure.data.span)
        #expect(encrypted.decrypted(with: Self.material, cipher: AESCCM()) == Self.structures)
        for index in structure.data.indices {
            var changed = structure.data
            changed[index] ^= 1
            let damaged = try EncryptedAdvertisingData(decoding: changed.span)
            #expect(damaged.decrypted(with: Self.material, cipher: AESCCM()) == nil)
        }
        let other = EncryptedDataKeyMaterial(
            sessionKey: Self.material.sessionKey, initializationVector: [UInt8](repeating: 0, count: 8))
        #expect(encrypted.decrypted(with: other, cipher: AESCCM()) == nil)
        for count in 0..<9 {
            #expect(throws: DecodingFailure.self) {
                _ = try EncryptedAdvertisingData(decoding: structure.data.span.extracting(first: count))
            }
        }
    }
}
