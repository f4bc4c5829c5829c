import BluetoothBase
import BluetoothHCI
import TestSupport
import Testing

@Suite("Lists in events")
struct EventListTests {
    @Test(
        "H2: a list of completed packets ends where the event does",
        arguments: [
            ("13 05 01 40 00 02 00", [2], false), ("13 05 02 40 00 FF FF", [0xFFFF], true),
            ("13 01 01", [], true), ("13 03 01 40 00", [], true), ("13 01 00", [], false),
            ("13 05 FF 40 00 01 00", [1], true), ("13 09 01 40 00 01 00 41 00 01 00", [1], false),
        ])
    func completedPackets(_ text: String, _ counts: [UInt16], _ isTruncated: Bool) throws {
        let packet = bytes(text)
        guard case .numberOfCompletedPackets(var list) = try HCIEvent(decoding: packet.span) else {
            Issue.record("not a Number Of Completed Packets event")
            return
        }
        var read: [UInt16] = []
        while let link = list.next() {
            #expect(link.connectionHandle == 0x0040)
            read.append(link.count)
        }
        #expect(read == counts)
        #expect(list.isTruncated == isTruncated)
        #expect(list.next() == nil)
    }

    static let report = "00 01 55 44 33 22 11 C0 03 02 01 06 C4 "

    @Test(
        "H3: advertising reports end where the event does",
        arguments: [
            (report, 1, 1, false), (report + report, 2, 2, false), (report, 25, 1, true), ("", 1, 0, true),
            ("00 01 55 44 33 22 11 C0 1F 02 01 06 C4", 1, 0, true), ("00 01 55 44 33 22 11 C0 03 02 01 06", 1, 0, true),
            (report + "00 01 55 44 33 22 11 C0 FF", 2, 1, true), ("00 07 55 44 33 22 11 C0 00 C4", 1, 0, true),
            (report, 0, 0, false),
        ])
    func advertisingReports(_ reports: String, _ claimed: UInt8, _ readable: Int, _ isMalformed: Bool) throws {
        let body = bytes("02") + [claimed] + bytes(reports)
        let packet: [UInt8] = [0x3E, UInt8(body.count)] + body
        guard case .leAdvertisingReports(var list) = try HCIEvent(decoding: packet.span) else {
            Issue.record("not an LE Advertising Report event")
            return
        }
        var count = 0
        while let report = list.next() {
            #expect(report.address == randomPeer)
            #expect(report.eventType == .connectableUndirected)
            #expect(Array(report.data) == bytes("02 01 06"))
            #expect(report.rssi == -60)
            count += 1
        }
        #expect(count == readable)
        #expect(list.isMalformed == isMalformed)
    }

    static let extended = "13 00 01 55 44 33 22 11 C0 01 00 FF 7F C4 00 00 00 00 00 00 00 00 00 "

    @Test(
        "H3: extended advertising reports end where the event does",
        arguments: [
            (extended + "03 02 01 06", 1, 1, false), (extended + "03 02 01 06" + extended + "03 02 01 06", 2, 2, false),
            (extended + "E5 02 01 06", 1, 0, true), (extended, 1, 0, true), (extended + "03 02 01 06", 9, 1, true),
        ])
    func extendedReports(_ reports: String, _ claimed: UInt8, _ readable: Int, _ isMalformed: Bool) throws {
        let body = bytes("0D") + [claimed] + bytes(reports)
        let packet: [UInt8] = [0x3E, UInt8(body.count)] + body
        guard case .leExtendedAdvertisingReports(var list) = try HCIEvent(decoding: packet.span) else {
            Issue.record("not an LE Extended Advertising Report event")
            return
        }
        var count = 0
        while let report = list.next() {
            #expect(report.address == randomPeer)
            #expect(report.eventType == [.connectable, .scannable, .legacy])
            #expect(report.eventType.dataStatus == .complete)
            #expect(report.directAddress == .none)
            #expect(Array(report.data) == bytes("02 01 06"))
            count += 1
        }
        #expect(count == readable)
        #expect(list.isMalformed == isMalformed)
    }

    @Test("an anonymous advertiser has no address, and an unresolved target keeps its type")
    func anonymous() throws {
        let packet = bytes(
            "3E 1A 0D 01 64 00 FF 00 00 00 00 00 00 01 02 0A 08 C4 00 00 FE 66 55 44 33 22 41 00")
        guard case .leExtendedAdvertisingReports(var list) = try HCIEvent(decoding: packet.span),
            let report = list.next()
        else {
            Issue.record("no report")
            return
        }
        #expect(report.address == nil)
        #expect(report.eventType.contains(.directed))
        #expect(report.eventType.dataStatus == .reserved)
        #expect(report.directAddress.address == DeviceAddress(0x4122_3344_5566, kind: .random))
    }

    @Test("H4: an event never claims more than 255 octets of parameters")
    func overlongReport() {
        let data = [UInt8](repeating: 0xAB, count: 300)
        let packet = written {
            LEExtendedAdvertisingReport(eventType: [], address: randomPeer, rssi: 0, data: data.span)
                .encodePacket(into: &$0)
        }
        #expect(packet.count == 3 + 255)
        #expect(packet[2] == 255)
    }
}
