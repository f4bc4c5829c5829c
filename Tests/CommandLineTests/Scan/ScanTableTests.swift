import BluetoothLE
import Testing

@testable import ble

/// `ble scan`: which devices it knows, and what is news.
struct ScanTableTests {
    private func address(_ number: UInt64) -> DeviceAddress { DeviceAddress(0xC000_0000_0000 | number, kind: .random) }
    private let named = advertised { $0.localName = .complete("A") }

    @Test("New devices, changed data, another advertising type and a scan response are news; a repetition is not")
    func news() {
        var table = ScanTable()
        let first = table.record(sighting(named))
        #expect(first.isNews)
        #expect(table.record(sighting(named, rssi: -30, at: 1)) == (first.slot, false))
        #expect(table.record(sighting(named, response: [2, 0x0A, 4], at: 2)) == (first.slot, true))
        #expect(
            table.record(sighting(named, response: [2, 0x0A, 4], at: 3, isConnectable: false)) == (first.slot, true))
        #expect(
            table.record(sighting([2, 1, 6], response: [2, 0x0A, 4], at: 3, isConnectable: false)) == (first.slot, true)
        )
        let second = table.record(sighting(named, address: address(9), at: 4))
        #expect(second.isNews && second.slot != first.slot)
        #expect(table.setCount == 2 && table[first.slot].sighting.rssi == -60)
    }

    @Test("A full table evicts the devices that were seen the longest time ago, and never grows")
    func bounded() {
        var table = ScanTable(capacity: 8)
        for number in 0..<8 { _ = table.record(sighting(named, address: address(UInt64(number)), at: UInt64(number))) }
        // The first is seen once more, so that the second and third are the oldest.
        #expect(!table.record(sighting(named, address: address(0), at: 8)).isNews)
        #expect(table.record(sighting(named, address: address(100), at: 9)).isNews)
        #expect(table.setCount == 7 && table.evictedCount == 2)
        let known = Set(table.sets().map(\.sighting.address.value))
        #expect(known == Set(([0, 3, 4, 5, 6, 7, 100] as [UInt64]).map { address($0).value }))
        #expect(!table.record(sighting(named, address: address(7), at: 10)).isNews)
        #expect(table.record(sighting(named, address: address(1), at: 10)).isNews)
        for number in 200..<2000 {
            _ = table.record(sighting(named, address: address(UInt64(number)), at: UInt64(number)))
            #expect(table.setCount <= 8)
        }
    }

    @Test("Evicting or clearing a device removes its sets and its estimate")
    func forgetting() {
        var table = ScanTable(capacity: 8)
        /// The addresses of the sets, and of the estimates, which are in the same records.
        func known() -> (sets: Set<UInt64>, estimates: Set<UInt64>) {
            (Set(table.sets().map(\.sighting.address.value)), Set(table.nearestFirst.map(\.address.value)))
        }
        for number in 0..<1000 as Range<UInt64> {
            _ = table.record(sighting(named, address: address(number), at: number))
            let (sets, estimates) = known()
            #expect(sets == estimates && sets.count <= 8 && sets.contains(address(number).value))
            #expect(table.setCount == sets.count && table.setCount + table.evictedCount == Int(number) + 1)
        }
        table.removeAll()
        #expect(table.setCount == 0 && known().sets.isEmpty && known().estimates.isEmpty)
        #expect(table.record(sighting(named, address: address(999), at: 1000)).isNews)
    }

    @Test("Advertising sets count toward the capacity, have separate lines, and share their device's estimate")
    func sets() {
        var table = ScanTable(capacity: 8)
        for sid in 0..<4 as Range<UInt8> {
            #expect(table.record(sighting(named, sid: sid, rssi: -60 - Int8(sid), at: 1)).isNews)
        }
        for number in 0..<4 as Range<UInt64> { _ = table.record(sighting(named, address: address(number), at: 2)) }
        #expect(table.setCount == 8 && table.nearestFirst.count == 5)
        #expect(table.sets().compactMap(\.sighting.details.sid) == [0, 1, 2, 3])
        // Four measurements at the same time: their mean.
        #expect(table.nearestFirst.map(\.estimate.rssi) == [-60, -60, -60, -60, -61.5])
        #expect(!table.record(sighting(named, sid: 2, at: 3)).isNews)
        // The set does not fit: a quarter of the sets is evicted, and the other devices are the oldest.
        #expect(table.record(sighting(named, sid: 4, at: 4)).isNews)
        #expect(table.setCount == 7 && table.evictedCount == 2 && table.nearestFirst.count == 3)
        // Now the device with the sets is the oldest. It is evicted with all of them, and returns with the set that was
        // seen.
        for number in 10..<13 as Range<UInt64> { _ = table.record(sighting(named, address: address(number), at: 5)) }
        #expect(table.setCount == 8 && table.evictedCount == 4)
        #expect(table.record(sighting(named, sid: 5, at: 6)).isNews)
        #expect(table.setCount == 4 && table.evictedCount == 9)
        #expect(table.sets().compactMap(\.sighting.details.sid) == [5])
    }

    @Test("A bonded device has one estimate, with its current address")
    func estimateOfBondedDevice() {
        var table = ScanTable()
        let peer = PeerID(address(1))
        for (number, rssi) in [(0, -60), (1, -80)] as [(UInt64, Int8)] {
            let resolvable = DeviceAddress(0x4A00_0000_0000 | number, kind: .random)
            _ = table.record(sighting(named, address: resolvable, peer: peer, rssi: rssi))
        }
        #expect(table.nearestFirst.map(\.estimate.rssi) == [-70])
        #expect(table.nearestFirst.map(\.address.value) == [0x4A00_0000_0001])
    }

    @Test("Devices that do not match, or whose signal was not measured, have no estimate")
    func estimates() {
        var table = ScanTable(services: ["180D"])
        let heart = advertised { $0.serviceUUIDs = ["180D"] }
        _ = table.record(sighting(named, address: address(1)))
        _ = table.record(sighting(heart, address: address(2), rssi: 127))
        _ = table.record(sighting(heart, address: address(3), rssi: -70))
        _ = table.record(sighting(heart, address: address(4), rssi: -50))
        _ = table.record(sighting(heart, address: address(2), rssi: -70, at: 1))
        // Of equals the one that was measured first.
        #expect(table.nearestFirst.map(\.address) == [address(4), address(3), address(2)])
    }

    @Test("Devices that list a service or have data for it match")
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

    @Test("Devices that do not match are neither shown nor counted, and duplicates are shown only on request")
    func session() {
        let heart = advertised { $0.serviceUUIDs = ["180D"] }
        for (reportsDuplicates, count) in [(false, 1), (true, 3)] {
            let session = ScanSession(ScanTable(services: ["180D"]), reportsDuplicates: reportsDuplicates)
            for second in 0..<3 { session.record(sighting(heart, at: UInt64(second))) }
            #expect(session.record(sighting(named, address: address(1))) == nil)
            #expect(session.shownCount == count && session.nearestFirst.count == 1)
        }
    }

    @Test("The history has the strongest signal of each of the last 16 seconds")
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
