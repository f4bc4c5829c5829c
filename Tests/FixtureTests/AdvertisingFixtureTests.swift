import BluetoothBase
import BluetoothGAP
import BluetoothHCI
import TestSupport
import Testing

@Suite("Fixtures: advertising data")
struct AdvertisingFixtureTests {
    static let captures = Capture.all.filter { $0.name.contains("advertising") }

    @Test("advertising data is decoded completely", arguments: captures)
    func structures(_ capture: Capture) throws {
        let seen = try capture.advertisingData()
        #expect(!seen.isEmpty)
        for data in seen {
            var structures = ADStructures(data.span)
            var again = ByteWriter()
            while let structure = structures.next() {
                again.append(UInt8(structure.data.count + 1))
                again.append(structure.type.rawValue)
                again.append(structure.data)
            }
            #expect(again.bytes == data)
        }
    }

    @Test("decoded advertising data can be encoded again", arguments: captures)
    func meaning(_ capture: Capture) throws {
        for data in try capture.advertisingData() {
            let advertisement = AdvertisementData(data.span)
            #expect(advertisement.other.isEmpty)
            let payload = try AdvertisingPayload(advertisement)
            #expect(AdvertisementData(payload.advertisingData.span) == advertisement)
        }
    }

    @Test("the peripheral is recognized by its advertising data", arguments: captures.filter { $0.isCentral })
    func sighting(_ capture: Capture) throws {
        var table = SightingTable()
        for report in try capture.advertisingReports() {
            _ = table.receive(
                AdvertisingReport(
                    address: report.address, eventType: report.isScanResponse ? .scanResponse : .connectable,
                    rssi: report.rssi, data: report.data.span), at: .zero)
        }
        let peripheral = try #require(table[DeviceAddress(0xC0DE_0000_000F, kind: .random)])
        #expect(peripheral.contains(serviceUUID: "00000001-4C1B-4E54-9E9C-5F0C2B7A1D3E"))
        // The name is in the scan response, in the place of which Bumble's controllers repeat the advertising data.
        #expect(peripheral.name == (capture.name.hasPrefix("Bumble/") ? nil : "Fixture"))
        #expect(table.count == 1)
    }
}

extension Capture {
    var isCentral: Bool { name.hasSuffix("-central") }

    struct Report {
        var address: DeviceAddress
        var isScanResponse: Bool
        var rssi: Int8
        var data: [UInt8]
    }

    /// The reports to a scanner.
    func advertisingReports() throws -> [Report] {
        var found: [Report] = []
        for packet in packets {
            guard let content = packet.content(of: .event) else { continue }
            switch try HCIEvent(decoding: content.span) {
            case .leAdvertisingReports(var reports):
                while let report = reports.next() {
                    found.append(
                        Report(
                            address: report.address, isScanResponse: report.eventType == .scanResponse,
                            rssi: report.rssi, data: Array(report.data)))
                }
            case .leExtendedAdvertisingReports(var reports):
                while let report = reports.next() {
                    guard let address = report.address else { continue }
                    found.append(
                        Report(
                            address: address, isScanResponse: report.eventType.contains(.scanResponse),
                            rssi: report.rssi, data: Array(report.data)))
                }
            default: continue
            }
        }
        return found
    }

    /// The data of every report, and of every command that sets some.
    func advertisingData() throws -> [[UInt8]] {
        var found = try advertisingReports().map(\.data)
        for packet in packets {
            guard let content = packet.content(of: .command) else { continue }
            switch try HCICommandPacket(decoding: content.span).decodeKnown() {
            case let command as LESetAdvertisingData: found.append(command.data)
            case let command as LESetScanResponseData: found.append(command.data)
            case let command as LESetExtendedAdvertisingData: found.append(command.fragment.data)
            case let command as LESetExtendedScanResponseData: found.append(command.fragment.data)
            default: continue
            }
        }
        return found
    }
}
