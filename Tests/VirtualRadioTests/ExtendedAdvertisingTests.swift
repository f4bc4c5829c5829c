import BluetoothBase
import BluetoothHCI
import TestSupport
import Testing
import VirtualRadio

@Suite("Extended advertising of virtual controllers")
struct ExtendedAdvertisingTests {
    static let set = AdvertisingHandle(3)

    static func bench(
        central: @escaping (inout ControllerConfiguration) -> Void = { _ in },
        peripheral: @escaping (inout ControllerConfiguration) -> Void = { _ in }
    ) -> Bench {
        var bench = Bench(
            central: {
                $0.hasExtendedAdvertising = true
                central(&$0)
            },
            peripheral: {
                $0.hasExtendedAdvertising = true
                peripheral(&$0)
            })
        bench.unmask()
        return bench
    }

    static func parameters(_ properties: AdvertisingEventProperties = []) -> LESetExtendedAdvertisingParameters {
        var parameters = LESetExtendedAdvertisingParameters(advertisingHandle: set, properties: properties)
        parameters.primaryIntervalMin = LESlots(rawValue: 0xA0)
        parameters.primaryIntervalMax = LESlots(rawValue: 0xA0)
        return parameters
    }

    static func data(
        _ octets: [UInt8], _ operation: AdvertisingDataFragment.Operation = .complete
    ) -> LESetExtendedAdvertisingData {
        LESetExtendedAdvertisingData(
            advertisingHandle: set, fragment: AdvertisingDataFragment(operation: operation, data: octets))
    }

    static func response(_ octets: [UInt8]) -> LESetExtendedScanResponseData {
        LESetExtendedScanResponseData(advertisingHandle: set, fragment: AdvertisingDataFragment(data: octets))
    }

    static func enable(
        _ isEnabled: Bool = true, duration: UInt16 = 0, events: UInt8 = 0
    ) -> LESetExtendedAdvertisingEnable {
        LESetExtendedAdvertisingEnable(
            isEnabled: isEnabled,
            sets: [.init(advertisingHandle: set, duration: duration, maxExtendedAdvertisingEvents: events)])
    }

    static func scan(_ type: LEScanType = .active, coded: Bool = false) -> LESetExtendedScanParameters {
        let each = LESetExtendedScanParameters.PHYParameters(
            type: type, interval: LESlots(rawValue: 0x10), window: LESlots(rawValue: 0x10))
        return LESetExtendedScanParameters(le1M: coded ? nil : each, leCoded: coded ? each : nil)
    }

    @Test("a controller reports its capabilities") func capabilities() {
        var bench = Self.bench()
        #expect(
            bench.reply(to: LEReadMaximumAdvertisingDataLength(), from: bench.central) == "040e06013a200072" + "06")
        #expect(bench.reply(to: LEReadNumberOfSupportedAdvertisingSets(), from: bench.central) == "040e05013b200008")
        let features = bench.reply(to: LEReadLocalSupportedFeatures(), from: bench.central)
        #expect(features == "040e0c01032000" + "6f19000000000000")
        var plain = Bench()
        #expect(
            plain.reply(to: LEReadNumberOfSupportedAdvertisingSets(), from: plain.central) == "040f0401013b20",
            "one without knows none of it")
    }

    @Test("long data is reported in pieces of at most 229 octets") func pieces() {
        var bench = Self.bench()
        bench.prepare(bench.central, Self.scan(), LESetExtendedScanEnable(isEnabled: true))
        bench.prepare(
            bench.peripheral, Self.parameters(), Self.data([UInt8](repeating: 7, count: 250), .first),
            Self.data([UInt8](repeating: 8, count: 10), .last), Self.enable())
        bench.run(.milliseconds(1))
        let first = "043eff0d01200000a00000000000" + "010100" + "7f" + "ce" + "0000" + "00000000000000" + "e5"
        let last = "043e390d01000000a00000000000" + "010100" + "7f" + "ce" + "0000" + "00000000000000" + "1f"
        #expect(
            bench.told(by: bench.central) == [
                first + String(repeating: "07", count: 229),
                last + String(repeating: "07", count: 21) + String(repeating: "08", count: 10),
            ])
    }

    /// What is advertised, and the event type, address and PHYs of the reports of it.
    static let reports: [(AdvertisingEventProperties, [UInt8], [UInt8], [String])] = [
        ([.legacy, .connectable, .scannable], [1], [2], ["1300", "1b00"]),
        ([.legacy, .scannable], [1], [2], ["1200", "1a00"]), ([.legacy], [1], [], ["1000"]),
        ([.connectable], [1], [], ["0100"]), ([.scannable], [], [2], ["0200", "0a00"]), ([], [1], [], ["0000"]),
    ]

    @Test("Vol 4, Part E, 7.7.65.13: each kind of advertising has its event type", arguments: reports)
    func eventTypes(
        _ properties: AdvertisingEventProperties, _ data: [UInt8], _ response: [UInt8], _ types: [String]
    ) {
        var bench = Self.bench()
        bench.prepare(bench.central, Self.scan(), LESetExtendedScanEnable(isEnabled: true))
        bench.prepare(bench.peripheral, Self.parameters(properties))
        if !data.isEmpty { bench.prepare(bench.peripheral, Self.data(data)) }
        if !response.isEmpty { bench.prepare(bench.peripheral, Self.response(response)) }
        bench.prepare(bench.peripheral, Self.enable())
        bench.run(.milliseconds(1))
        let reports = bench.told(by: bench.central)
        #expect(reports.map { String($0.dropFirst(10).prefix(4)) } == types)
        let isLegacy = properties.contains(.legacy)
        #expect(reports.allSatisfy { String($0.dropFirst(28).prefix(6)) == (isLegacy ? "0100ff" : "010100") })
    }

    @Test("an anonymous advertiser is reported without an address") func anonymous() {
        var bench = Self.bench()
        bench.prepare(bench.central, Self.scan(), LESetExtendedScanEnable(isEnabled: true))
        bench.prepare(bench.peripheral, Self.parameters(.anonymous), Self.data([1]), Self.enable())
        bench.run(.milliseconds(1))
        #expect(bench.told(by: bench.central).map { String($0.dropFirst(14).prefix(14)) } == ["ff000000000000"])
    }

    @Test("legacy scanners receive legacy PDUs of sets, and nothing else", arguments: [true, false])
    func legacyScanner(_ isLegacy: Bool) {
        var bench = Self.bench()
        bench.prepare(
            bench.central,
            LESetScanParameters(type: .passive, interval: LESlots(rawValue: 0x10), window: LESlots(rawValue: 0x10)),
            LESetScanEnable(isEnabled: true, filterDuplicates: false))
        bench.prepare(bench.peripheral, Self.parameters(isLegacy ? .legacy : []), Self.data([1]), Self.enable())
        bench.run(.milliseconds(1))
        #expect(
            bench.told(by: bench.central) == (isLegacy ? ["043e0d020103" + "00a00000000000" + "0101" + "ce"] : []))
    }

    @Test(
        "LE Coded is received only by scanners that listen to it",
        arguments: [true, false]) func coded(_ listens: Bool)
    {
        var bench = Self.bench()
        bench.prepare(bench.central, Self.scan(coded: listens), LESetExtendedScanEnable(isEnabled: true))
        var parameters = Self.parameters()
        parameters.primaryPHY = .leCoded
        parameters.secondaryPHY = .leCoded
        bench.prepare(bench.peripheral, parameters, Self.enable())
        bench.run(.milliseconds(1))
        #expect(
            bench.told(by: bench.central).map { String($0.dropFirst(28).prefix(4)) } == (listens ? ["0303"] : []))
    }

    @Test("a duplicate is reported again once its data has changed") func duplicates() {
        var bench = Self.bench()
        bench.prepare(
            bench.central, Self.scan(), LESetExtendedScanEnable(isEnabled: true, filterDuplicates: .enabled))
        bench.prepare(bench.peripheral, Self.parameters(), Self.data([1]), Self.enable())
        bench.run(.seconds(1))
        #expect(bench.told(by: bench.central).count == 1)
        bench.prepare(bench.peripheral, Self.data([2]))
        bench.run(.seconds(1))
        #expect(bench.told(by: bench.central).count == 1)
    }

    @Test("a scan request is reported if the set requests it") func scanRequest() {
        var bench = Self.bench()
        bench.prepare(bench.central, Self.scan(), LESetExtendedScanEnable(isEnabled: true))
        var parameters = Self.parameters(.scannable)
        parameters.notifiesScanRequests = true
        bench.prepare(bench.peripheral, parameters, Self.response([1]), Self.enable())
        bench.run(.milliseconds(1))
        #expect(bench.told(by: bench.peripheral) == ["043e09130300c00000000000"])
    }

    @Test("sets end after a time or a number of events (Vol 4, Part E, 7.7.65.18)") func endings() {
        var bench = Self.bench()
        bench.prepare(bench.peripheral, Self.parameters(), Self.data([1]), Self.enable(duration: 25))
        bench.run(.milliseconds(249))
        #expect(bench.told(by: bench.peripheral) == [])
        bench.run(.milliseconds(1))
        #expect(bench.told(by: bench.peripheral) == ["043e06123c03000000"])
        bench.prepare(bench.peripheral, Self.enable(events: 3))
        bench.run(.seconds(1))
        #expect(bench.told(by: bench.peripheral) == ["043e06124303000003"])
        #expect(!bench.air[bench.peripheral].isAdvertising)
    }

    @Test("a scan with a duration ends with LE Scan Timeout; with a period it pauses") func scanTimes() {
        var bench = Self.bench()
        bench.prepare(bench.central, Self.scan(), LESetExtendedScanEnable(isEnabled: true, duration: 10))
        bench.run(.milliseconds(100))
        #expect(bench.told(by: bench.central) == ["043e0111"])
        #expect(!bench.air[bench.central].isScanning)
        bench.prepare(
            bench.central, LESetExtendedScanEnable(isEnabled: true, duration: 20, period: 1))
        bench.prepare(bench.peripheral, Self.parameters(), Self.enable())
        bench.run(.milliseconds(200))
        #expect(!bench.told(by: bench.central).isEmpty)
        bench.run(.milliseconds(1000))
        #expect(bench.told(by: bench.central).isEmpty)
        bench.run(.milliseconds(280))
        #expect(!bench.told(by: bench.central).isEmpty)
    }

    @Test("a connection through a set names the set, and starts on its PHY") func connecting() {
        var bench = Self.bench()
        let each = LEExtendedCreateConnection.PHYParameters(
            scanInterval: LESlots(rawValue: 0x10), scanWindow: LESlots(rawValue: 0x10),
            connectionParameters: Bench.connectionParameters())
        bench.prepare(
            bench.central, LEExtendedCreateConnection(peerAddress: Bench.peripheralAddress, le1M: each, le2M: each))
        var parameters = Self.parameters(.connectable)
        parameters.secondaryPHY = .le2M
        bench.prepare(bench.peripheral, parameters, Self.data([1]), Self.enable())
        bench.run(.milliseconds(1))
        let told = bench.told(by: bench.peripheral)
        #expect(told.count == 2 && told.last == "043e06120003400000")
        let phys = bench.reply(to: LEReadPHY(connectionHandle: 0x40), from: bench.peripheral)
        #expect(phys == "040e08013020004000" + "0202")
    }

    @Test(
        "an initiator without the PHY of a set, or with the legacy command, does not connect to it",
        arguments: [true, false])
    func notConnecting(_ isExtended: Bool) {
        var bench = Self.bench()
        let each = LEExtendedCreateConnection.PHYParameters(
            scanInterval: LESlots(rawValue: 0x10), scanWindow: LESlots(rawValue: 0x10),
            connectionParameters: Bench.connectionParameters())
        if isExtended {
            bench.prepare(bench.central, LEExtendedCreateConnection(peerAddress: Bench.peripheralAddress, le1M: each))
        } else {
            bench.prepare(bench.central, Bench.createConnection())
        }
        var parameters = Self.parameters(.connectable)
        if isExtended { parameters.secondaryPHY = .le2M }
        bench.prepare(bench.peripheral, parameters, Self.enable())
        bench.run(.seconds(1))
        #expect(bench.air[bench.central].isInitiating)
    }

    static let refusals: [(String, [any HCICommand], String)] = [
        ("a set that does not exist", [data([1])], "42"),
        ("legacy PDUs with more than 31 octets", [parameters(.legacy), data([UInt8](repeating: 0, count: 32))], "12"),
        ("data in a scannable set", [parameters(.scannable), data([1])], "12"),
        ("scan response data where nobody asks", [parameters(), response([1])], "12"),
        ("a scannable set without an answer", [parameters(.scannable), enable()], "0c"),
        ("data of which the end is missing", [parameters(), data([1], .first), enable()], "0c"),
        ("the end of data without the beginning", [parameters(), data([1], .last)], "12"),
        ("an empty fragment", [parameters(), data([1], .first), data([], .last)], "12"),
        ("parameters of a set that is on the air", [parameters(), enable(), parameters()], "0c"),
        ("removing one", [parameters(), enable(), LERemoveAdvertisingSet(advertisingHandle: set)], "0c"),
        ("connectable and scannable at once", [parameters([.connectable, .scannable])], "12"),
        ("connectable and anonymous", [parameters([.connectable, .anonymous])], "12"),
        ("long connectable data", [parameters(.connectable), data([UInt8](repeating: 0, count: 246)), enable()], "45"),
        ("nothing to enable", [LESetExtendedAdvertisingEnable(isEnabled: true, sets: [])], "12"),
        ("legacy commands beside the extended ones", [parameters(), LESetAdvertisingEnable(isEnabled: false)], "0c"),
        ("extended commands beside the legacy ones", [LESetAdvertisingData(data: []), parameters()], "0c"),
        (
            "an address that was not set",
            [
                {
                    var random = parameters()
                    random.ownAddressType = .random
                    return random
                }() as any HCICommand, enable(),
            ], "12"
        ),
    ]

    @Test("Vol 4, Part E, 7.8.52 to 7.8.60 and 3.1.1: rejected commands", arguments: refusals)
    func refused(_ what: String, _ commands: [any HCICommand], _ status: String) {
        var bench = Self.bench()
        var last = ""
        for command in commands { last = bench.reply(to: command, from: bench.peripheral) }
        #expect(String(last.dropFirst(12).prefix(2)) == status)
    }

    @Test("there are no more sets than the configured maximum") func setLimit() {
        var bench = Self.bench(peripheral: { $0.maximumAdvertisingSets = 2 })
        var answers: [String] = []
        for number in [3, 7, 9] as [UInt8] {
            var parameters = Self.parameters()
            parameters.advertisingHandle = AdvertisingHandle(number)
            answers.append(String(bench.reply(to: parameters, from: bench.peripheral).dropFirst(12).prefix(2)))
        }
        #expect(answers == ["00", "00", "07"])
        #expect(bench.reply(to: LEClearAdvertisingSets(), from: bench.peripheral) == "040e04013d2000")
    }
}

extension Bench {
    /// As `received(by:)`, without spaces.
    fileprivate mutating func told(by id: ControllerID) -> [String] {
        received(by: id).map { $0.filter { $0 != " " }.lowercased() }
    }

    fileprivate mutating func reply(to command: some HCICommand, from id: ControllerID) -> String {
        send(command, from: id)
        return told(by: id).joined(separator: "; ")
    }
}
