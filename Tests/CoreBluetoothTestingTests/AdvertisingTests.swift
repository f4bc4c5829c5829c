import CoreBluetooth
import CoreBluetoothTesting
import Testing

@Suite(.timeLimit(.minutes(30)), .radioCapture)
struct AdvertisingTests {
    private let air = TestRadio(time: .manual)

    private func phone() -> Phone { air.app { Phone(connects: false) } }

    @Test func `an app sees manufacturer data, service data and the TX power`() async throws {
        let sensor = VirtualPeripheral(
            name: "Sensor",
            advertisements: [
                VirtualAdvertisement(
                    name: "S", services: ["180D"], serviceData: [("FE95", Data([1, 2]))],
                    manufacturerData: Data([0x4C, 0x00, 0x02]), txPowerLevel: -8, solicitedServices: ["180F"])
            ])
        try await air.add(sensor)
        let app = phone()
        try await air.wait { app.advertisements.contains { $0.data[CBAdvertisementDataLocalNameKey] != nil } }
        let data = try #require(app.advertisements.last?.data)
        #expect(data[CBAdvertisementDataLocalNameKey] as? String == "S")
        #expect(data[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID] == [CBUUID(string: "180D")])
        #expect(
            data[CBAdvertisementDataServiceDataKey] as? [CBUUID: Data] == [CBUUID(string: "FE95"): Data([1, 2])])
        #expect(data[CBAdvertisementDataManufacturerDataKey] as? Data == Data([0x4C, 0x00, 0x02]))
        #expect(data[CBAdvertisementDataTxPowerLevelKey] as? Int == -8)
        #expect(data[CBAdvertisementDataSolicitedServiceUUIDsKey] as? [CBUUID] == [CBUUID(string: "180F")])
        #expect(data[CBAdvertisementDataIsConnectable] as? Bool == true)
    }

    @Test func `a payload can be given as the dictionary that an app receives`() async throws {
        let dictionary: [String: Any] = [
            CBAdvertisementDataLocalNameKey: "D", CBAdvertisementDataServiceUUIDsKey: [CBUUID(string: "180D")],
            CBAdvertisementDataServiceDataKey: [CBUUID(string: "180D"): Data([7])],
            CBAdvertisementDataManufacturerDataKey: Data([1, 2, 3]), CBAdvertisementDataTxPowerLevelKey: 4,
            CBAdvertisementDataIsConnectable: false,
        ]
        try await air.add(VirtualPeripheral(name: nil, advertisements: [VirtualAdvertisement(dictionary)]))
        let app = phone()
        try await air.wait { !app.advertisements.isEmpty }
        let data = app.advertisements[0].data
        for key in dictionary.keys {
            #expect((data[key] as? NSObject)?.isEqual(dictionary[key]) == true, "\(key)")
        }
    }

    @Test func `several payloads are advertised at the same time, each at its own interval`() async throws {
        let sensor = VirtualPeripheral(
            name: "Both",
            advertisements: [
                VirtualAdvertisement(name: "fast", interval: .milliseconds(100)),
                VirtualAdvertisement(manufacturerData: Data([1, 0, 9]), isConnectable: false, interval: .seconds(1)),
            ])
        try await air.add(sensor)
        let app = phone()
        try await air.wait { !app.advertisements.isEmpty }
        await air.pass(.seconds(20))
        let fast = app.advertisements.count { $0.data[CBAdvertisementDataLocalNameKey] as? String == "fast" }
        let slow = app.advertisements.count { $0.data[CBAdvertisementDataManufacturerDataKey] != nil }
        #expect(slow > 10 && fast > 5 * slow)
        #expect(Set(app.advertisements.map(\.peripheral.identifier)) == [sensor.identifier])
    }

    @Test func `a delayed payload is not advertised before its time`() async throws {
        let payload = VirtualAdvertisement(name: "late", delay: .seconds(5))
        try await air.add(VirtualPeripheral(name: "late", advertisements: [payload]))
        let app = phone()
        await air.pass(.seconds(4))
        #expect(app.lines == ["poweredOn"] && app.advertisements.isEmpty)
        try await air.wait(atMost: .seconds(3)) { !app.advertisements.isEmpty }
    }

    @Test func `a peripheral advertises other payloads from one moment to the next`() async throws {
        let sensor = VirtualPeripheral(name: "Sensor", services: [VirtualService("180D")])
        try await air.add(sensor)
        let app = phone()
        try await air.wait { !app.advertisements.isEmpty }
        try await sensor.simulateAdvertising([VirtualAdvertisement(manufacturerData: Data([1, 0, 5]))])
        await air.settle()
        let count = app.advertisements.count
        try await air.wait { app.advertisements.count > count + 1 }
        let data = try #require(app.advertisements.last?.data)
        #expect(data[CBAdvertisementDataManufacturerDataKey] as? Data == Data([1, 0, 5]))
        #expect(data[CBAdvertisementDataServiceUUIDsKey] == nil)
        sensor.simulateSilence()
        await air.pass(.seconds(1))
        let last = app.advertisements.count
        await air.pass(.seconds(10))
        #expect(app.advertisements.count == last)
    }

    @Test func `a payload may pause while a central is connected`() async throws {
        let payload = VirtualAdvertisement(name: "Lone", isAdvertisedWhenConnected: false)
        let sensor = VirtualPeripheral(name: "Lone", advertisements: [payload])
        try await air.add(sensor)
        let app = air.app { Phone(discovers: false) }
        try await air.wait { app.has("connected") }
        let other = phone()
        await air.pass(.seconds(5))
        #expect(other.advertisements.isEmpty)
        try await sensor.simulateDisconnection()
        try await air.wait { !other.advertisements.isEmpty }
    }

    @Test func `a payload that does not fit is refused`() async {
        let payload = VirtualAdvertisement(manufacturerData: Data(count: 40))
        let sensor = VirtualPeripheral(name: nil, advertisements: [payload])
        let error = await #expect(throws: CBError.self) { try await air.add(sensor) }
        #expect(error?.code == .invalidParameters)
    }
}
