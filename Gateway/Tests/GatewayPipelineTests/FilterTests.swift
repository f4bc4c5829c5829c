import BluetoothBase
import Testing
@testable import GatewayPipeline

@Suite struct FilterTests {
    @Test(arguments: [
        ("none", "", true), ("allowed", "A4:C1:38:11:22:33", true), ("allowed", "A4:C1:38:11:22:34", false),
        ("denied", "A4:C1:38:11:22:33", false), ("denied", "A4:C1:38:11:22:34", true),
        ("service", "FCD2", true), ("service", "180D", false), ("company", "1177", true), ("company", "76", false),
        ("rssi", "-60", true), ("rssi", "-59", false),
    ])
    func conditions(kind: String, value: String, isAccepted: Bool) throws {
        var filter = DeviceFilter()
        switch kind {
        case "allowed": filter.allowed = [try #require(DeviceAddress(value))]
        case "denied": filter.denied = [try #require(DeviceAddress(value))]
        case "service": filter.services = [try #require(BluetoothUUID(value))]
        case "company": filter.companies = [try #require(UInt16(value))]
        case "rssi": filter.minimumRSSI = Int8(value)
        default: break
        }
        let company = [UInt8](hexadecimal: "04FF990400")!
        #expect(filter.accepts(Reception(bthome("02CA09") + company, at: 1)) == isAccepted)
    }

    @Test func identityCountsBehindAPrivateAddress() throws {
        var filter = DeviceFilter()
        filter.allowed = [sensor]
        let address = try #require(DeviceAddress("4A:00:00:00:00:01/R"))
        let identity = DeviceAddress(sensor.value, kind: .publicIdentity)
        let reception = Reception(
            adapter: "hci0", address: address, identity: identity, rssi: nil, advertisingData: [], instant: .at(0))
        #expect(filter.accepts(reception))
    }

    @Test func bucketHoldsItsBurstAndItsRate() {
        var bucket = TokenBucket(rate: 2, burst: 3)
        let taken = [0, 0, 0, 0, 0.4, 0.5, 0.6, 1.0, 100, 100, 100, 100].map { bucket.take(at: .at($0)) }
        #expect(taken == [true, true, true, false, false, true, false, true, true, true, true, false])
    }

    @Test func tableForgetsWhatWasNotUsed() {
        var table = RecencyTable<Int, String>(capacity: 2)
        let one = table.insert(1, "a")
        _ = table.insert(2, "b")
        #expect(table.use(1) == one)
        #expect(table.oldestSlot.map { table.key(at: $0) } == 2)
        table.remove(table.oldestSlot!)
        _ = table.insert(3, "c")
        #expect(table.use(2) == nil)
        #expect(table.oldestSlot == one)
        #expect(table.count == 2)
    }
}
