import BluetoothBase
import BluetoothGAP
import BluetoothHCI
import BluetoothHost
import BluetoothSimulation
import Testing

@Suite("Reports of extended advertising")
struct ExtendedReportTests {
    static func scanning() throws -> ScriptedController {
        var controller = ScriptedController.extended()
        try controller.host.startScanning(ScanParameters(), at: controller.now)
        controller.settle()
        return controller
    }

    static func octets(_ count: Int, from first: UInt8 = 0) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0) &+ first }
    }

    static let more: UInt16 = 0x20, truncated: UInt16 = 0x40

    @Test("every field of a report is decoded") func details() throws {
        var controller = try Self.scanning()
        controller.receive([
            0x04, 0x3E, 0x1D, 0x0D, 0x01, 0x05, 0x00, 0x01, 0x01, 0x02, 0x03, 0x04, 0x05, 0xC6, 0x03, 0x02, 0x0B, 0xF4,
            0xC8, 0x50, 0x00, 0x00, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x03, 0x02, 0x01, 0x06,
        ])
        let (advertisement, data) = try #require(controller.takeAdvertisements().first)
        #expect(data == [2, 1, 6])
        #expect(advertisement.type == [.connectable, .directed])
        #expect(advertisement.address == DeviceAddress(0xC6_05_04_03_02_01, kind: .random))
        #expect(advertisement.rssi == -56)
        #expect(advertisement.txPowerLevel == -12)
        #expect(advertisement.details.primaryPHY == .leCoded)
        #expect(advertisement.details.secondaryPHY == .le2M)
        #expect(advertisement.details.sid == 11)
        #expect(advertisement.details.periodicInterval == .milliseconds(100))
        #expect(!advertisement.details.isTruncated && !advertisement.details.isAnonymous)
    }

    @Test("H4: fragments of 229 octets are reassembled, up to 1650 octets", arguments: [230, 458, 1650])
    func fragments(_ length: Int) throws {
        var controller = try Self.scanning()
        let data = Self.octets(length)
        for start in stride(from: 0, to: length, by: 229) {
            #expect(controller.takeAdvertisements().isEmpty)
            let end = min(start + 229, length)
            controller.reportExtended(type: end < length ? Self.more : 0, data: Array(data[start..<end]))
        }
        #expect(controller.takeAdvertisements().map(\.data) == [data])
    }

    @Test("H4: interleaved fragments of several sets are kept apart") func interleaved() throws {
        var controller = try Self.scanning()
        let other: [UInt8] = [9, 0, 0, 0, 0, 0xC0]
        controller.reportExtended(type: Self.more, data: [1])
        controller.reportExtended(type: Self.more, sid: 1, data: [2])
        controller.reportExtended(type: Self.more, address: other, data: [3])
        controller.reportExtended(type: Self.more, address: nil, data: [4])
        controller.reportExtended(type: Self.more | 0x0A, data: [5])
        controller.reportExtended(address: other, data: [33])
        controller.reportExtended(sid: 1, data: [22])
        controller.reportExtended(type: 0x0A, data: [55])
        controller.reportExtended(address: nil, data: [44])
        controller.reportExtended(data: [11])
        #expect(controller.takeAdvertisements().map(\.data) == [[3, 33], [2, 22], [5, 55], [4, 44], [1, 11]])
    }

    @Test("H4: of an endless report, 1650 octets are delivered once, as truncated")
    func endless() throws {
        var controller = try Self.scanning()
        for _ in 0..<100 { controller.reportExtended(type: Self.more, data: Self.octets(229)) }
        let seen = controller.takeAdvertisements()
        #expect(seen.map(\.data.count) == [1650])
        #expect(seen.map(\.advertisement.details.isTruncated) == [true])
        // The end of it is no data of its own.
        controller.reportExtended(data: [1, 2, 3])
        #expect(controller.takeAdvertisements().isEmpty)
        controller.reportExtended(data: [1, 2, 3])
        #expect(controller.takeAdvertisements().map(\.data) == [[1, 2, 3]])
    }

    @Test("H4: a report whose last fragment exceeds 1650 octets is truncated") func tooLong() throws {
        var controller = try Self.scanning()
        for _ in 0..<7 { controller.reportExtended(type: Self.more, data: Self.octets(229)) }
        controller.reportExtended(data: Self.octets(1650 - 7 * 229 + 1))
        let seen = controller.takeAdvertisements()
        #expect(seen.map(\.data.count) == [1650])
        #expect(seen.map(\.advertisement.details.isTruncated) == [true])
    }

    @Test("data truncated by the controller is reported as truncated") func truncatedByController() throws {
        var controller = try Self.scanning()
        controller.reportExtended(type: Self.more, data: [1])
        controller.reportExtended(type: Self.truncated, data: [2])
        controller.reportExtended(type: Self.truncated, sid: 2, data: [3])
        let seen = controller.takeAdvertisements()
        #expect(seen.map(\.data) == [[1, 2], [3]])
        #expect(seen.allSatisfy { $0.advertisement.details.isTruncated })
    }

    @Test("H4: if too many sets are unfinished, the oldest is reported as truncated") func pressure()
        throws
    {
        var controller = try Self.scanning()
        for number in 0..<9 {
            controller.reportExtended(
                type: Self.more, address: [UInt8(number), 0, 0, 0, 0, 0xC0], data: [UInt8(number)])
        }
        let given = controller.takeAdvertisements()
        #expect(given.map(\.data) == [[0]])
        #expect(given.allSatisfy { $0.advertisement.details.isTruncated })
        // The rest of what was given up begins anew; the others are whole.
        for number in 1..<9 {
            controller.reportExtended(address: [UInt8(number), 0, 0, 0, 0, 0xC0], data: [0xFF])
        }
        #expect(controller.takeAdvertisements().map(\.data) == (1..<9).map { [UInt8($0), 0xFF] })
    }

    @Test(
        "fragments that arrive long after the previous one may be its rest, and are not reported as new data",
        arguments: 0..<3)
    func stale(_ others: Int) throws {
        var controller = try Self.scanning()
        controller.reportExtended(type: Self.more, data: [1])
        controller.run(for: .seconds(6))
        for _ in 0..<others { controller.reportExtended(type: Self.more, data: [2]) }
        controller.reportExtended(data: [3])
        let seen = controller.takeAdvertisements()
        #expect(seen.map(\.data) == [[1]])
        #expect(seen.map(\.advertisement.details.isTruncated) == [true])
        controller.reportExtended(data: [4])
        #expect(controller.takeAdvertisements().map(\.data) == [[4]])
    }

    @Test("a set whose last fragments never arrive is reported again after every second silence")
    func staleAgain() throws {
        var controller = try Self.scanning()
        for number in 1...4 {
            controller.reportExtended(type: Self.more, data: [UInt8(number)])
            controller.run(for: .seconds(6))
        }
        let seen = controller.takeAdvertisements()
        #expect(seen.map(\.data) == [[1], [3]])
        controller.reportExtended(data: [5])
        #expect(controller.takeAdvertisements().map(\.data) == [[5]])
    }

    @Test("unfinished reports are discarded when the scan stops") func stopped() throws {
        var controller = try Self.scanning()
        controller.reportExtended(type: Self.more, data: [1])
        controller.host.stopScanning(at: controller.now)
        controller.settle()
        try controller.host.startScanning(ScanParameters(), at: controller.now)
        controller.settle()
        controller.reportExtended(data: [2])
        #expect(controller.takeAdvertisements().map(\.data) == [[2]])
    }

    @Test("reports that arrive while a scan restarts are dropped", arguments: ["reset", "parameters"])
    func leftover(_ cause: String) throws {
        var controller = try Self.scanning()
        controller.reportExtended(type: Self.more, data: [1])
        controller.answers[.reset] = .silence
        controller.answers[.leSetExtendedScanEnable] = .silence
        if cause == "reset" {
            controller.receive([0x04, 0x10, 0x01, 0x07])
        } else {
            try controller.host.startScanning(ScanParameters(isActive: false), at: controller.now)
            controller.settle()
        }
        controller.reportExtended(data: [2])
        #expect(controller.takeAdvertisements().isEmpty)
        controller.answers[.leSetExtendedScanEnable] = .complete(.success)
        controller.complete(cause == "reset" ? .reset : .leSetExtendedScanEnable)
        controller.reportExtended(data: [3])
        #expect(controller.takeAdvertisements().map(\.data) == [[3]])
    }

    @Test("anonymous advertisers get addresses that no device has, one for each SID and data") func anonymous() throws {
        var controller = try Self.scanning()
        controller.reportExtended(address: nil, data: [1, 2])
        controller.reportExtended(address: nil, data: [1, 3])
        controller.reportExtended(address: nil, sid: 1, data: [1, 2])
        controller.reportExtended(address: nil, data: [1, 2])
        let addresses = controller.takeAdvertisements().map(\.advertisement.address)
        #expect(Set(addresses).count == 3 && addresses[0] == addresses[3])
        #expect(addresses.allSatisfy { $0.randomKind == .reserved })
    }

    static let broken: [(String, [UInt8])] = [
        ("H3: more reports than there are", [0x04, 0x3E, 0x02, 0x0D, 0x19]),
        (
            "H4: data past the end of the event",
            [
                0x04, 0x3E, 0x1B, 0x0D, 0x01, 0x00, 0x00, 0x01, 0x01, 0x02, 0x03, 0x04, 0x05, 0xC6, 0x01, 0x01, 0x00,
                0x7F,
                0xC8, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xE5, 0x01,
            ]
        ),
        (
            "an address type that does not exist",
            [
                0x04, 0x3E, 0x1A, 0x0D, 0x01, 0x00, 0x00, 0x05, 0x01, 0x02, 0x03, 0x04, 0x05, 0xC6, 0x01, 0x01, 0x00,
                0x7F,
                0xC8, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
            ]
        ),
    ]

    @Test("the rest of a malformed event is dropped, and the host continues", arguments: broken)
    func isBroken(_ what: String, _ packet: [UInt8]) throws {
        var controller = try Self.scanning()
        controller.receive(packet)
        #expect(controller.takeAdvertisements().isEmpty)
        controller.reportExtended(data: [1])
        #expect(controller.takeAdvertisements().map(\.data) == [[1]])
    }
}

extension ScriptedController {
    /// What was reported of advertisers since the last call.
    mutating func takeAdvertisements() -> [(advertisement: Advertisement, data: [UInt8])] {
        defer { seen.removeAll() }
        return seen.compactMap { seen in
            guard case .advertisement(let advertisement) = seen.event else { return nil }
            return (advertisement, seen.bytes)
        }
    }
}
