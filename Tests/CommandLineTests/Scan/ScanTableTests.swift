import BluetoothLE
import Testing

@testable import BLETool

/// `ble scan`: which devices it knows, and what is news.
struct ScanTableTests {
    private func address(_ number: UInt64) -> DeviceAddress { DeviceAddress(0xC000_0000_0000 | number, kind: .random) }
    private let named = advertised { $0.localName = .complete("A") }

    @Test("New devices, changed data, another way to advertise and a scan response are news; a repetition is not")
    func news() {
        var table = ScanTable()
        #expect(table.record(sighting(named)) == (0, true))
        #expect(table.record(sighting(named, rssi: -30, at: 1)) == (0, false))
        #expect(table.record(sighting(named, response: [2, 0x0A, 4], at: 2)) == (0, true))
        #expect(table.record(sighting(named, response: [2, 0x0A, 4], at: 3, isConnectable: false)) == (0, true))
        #expect(table.record(sighting([2, 1, 6], response: [2, 0x0A, 4], at: 3, isConnectable: false)) == (0, true))
        #expect(table.record(sighting(named, address: address(9), at: 4)) == (1, true))
        #expect(table.devices.count == 2 && table[0].sighting.rssi == -60)
    }

    @Test("A full table forgets those not seen for longest, and never grows")
    func bounded() {
        var table = ScanTable(capacity: 8)
        for number in 0..<8 { _ = table.record(sighting(named, address: address(UInt64(number)), at: UInt64(number))) }
        // The first is seen once more, so that the second and third are the oldest.
        #expect(!table.record(sighting(named, address: address(0), at: 8)).isNews)
        #expect(table.record(sighting(named, address: address(100), at: 9)).isNews)
        #expect(table.devices.count == 7 && table.forgottenCount == 2)
        let known = Set(table.devices.map(\.sighting.address.value))
        #expect(known == Set(([0, 3, 4, 5, 6, 7, 100] as [UInt64]).map { address($0).value }))
        #expect(!table.record(sighting(named, address: address(7), at: 10)).isNews)
        #expect(table.record(sighting(named, address: address(1), at: 10)).isNews)
        for number in 200..<2000 {
            _ = table.record(sighting(named, address: address(UInt64(number)), at: UInt64(number)))
            #expect(table.devices.count <= 8)
        }
    }

    @Test("Devices match that list a service, or have data of it")
    func services() {
        var table = ScanTable(services: ["180D", "FCD2"])
        let data: [([UInt8], Bool)] = [
            (advertised { $0.serviceUUIDs = ["180D"] }, true),
            (advertised { $0.serviceData = [.init(uuid: "FCD2", data: [0x40, 1, 97])] }, true),
            (advertised { $0.serviceUUIDs = ["180F"] }, false), ([], false),
        ]
        for (index, (bytes, isMatch)) in data.enumerated() {
            let slot = table.record(sighting(bytes, address: address(UInt64(index)))).slot
            #expect(table[slot].isMatch == isMatch)
        }
    }

    @Test("What does not match is neither shown nor counted, and duplicates are shown only if wanted")
    func session() {
        let heart = advertised { $0.serviceUUIDs = ["180D"] }
        for (reportsDuplicates, count) in [(false, 1), (true, 3)] {
            let session = ScanSession(ScanTable(services: ["180D"]), reportsDuplicates: reportsDuplicates)
            for second in 0..<3 { session.record(sighting(heart, at: UInt64(second))) }
            #expect(session.record(sighting(named, address: address(1))) == nil)
            #expect(session.shownCount == count && session.nearestFirst.count == 1)
        }
    }

    @Test("The signal of each of the last 16 seconds is its strongest")
    func history() {
        var history = SignalHistory()
        #expect(history.seconds(at: .zero) == Array(repeating: nil, count: 16) && history.average == nil)
        for (second, rssi) in [(0, -80), (0, -60), (0, -70), (2, -50)] as [(UInt64, Int8)] {
            history.record(rssi, at: Instant(nanoseconds: second * 1_000_000_000 + 5))
        }
        let now = Instant(nanoseconds: 3_000_000_000)
        #expect(history.seconds(at: now) == Array(repeating: nil, count: 12) + [-60, nil, -50, nil])
        // 16 seconds later the first is gone, a day later all are.
        #expect(history.seconds(at: Instant(nanoseconds: 16_000_000_000)).compactMap { $0 } == [-50])
        #expect(history.seconds(at: Instant(nanoseconds: .max)).allSatisfy { $0 == nil })
        history.record(nil, at: Instant(nanoseconds: 20_000_000_000))
        #expect(history.seconds(at: Instant(nanoseconds: 20_000_000_000)).allSatisfy { $0 == nil })
        // A clock that goes back.
        history.record(-40, at: .zero)
        #expect(history.seconds(at: Instant(nanoseconds: 20_000_000_000)).last == -40)
    }
}
