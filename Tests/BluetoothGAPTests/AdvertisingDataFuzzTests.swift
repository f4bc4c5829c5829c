import BluetoothBase
import BluetoothGAP
import TestSupport
import Testing

struct AdvertisingDataFuzzTests {
    /// Random bytes, half of the time with valid lengths, through every reader: none traps, and all agree.
    @Test(arguments: 0..<500 as Range<UInt64>)
    func `any bytes can be read, and ADView agrees with AdvertisementData`(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<20 {
            let data = randomData(&generator)
            let owned = AdvertisementData(data.span)
            let view = ADView(data.span)
            #expect(view.txPowerLevel == owned.txPowerLevel)
            #expect(view.flags == owned.flags)
            let hasName = view.localName != nil
            #expect(hasName == (owned.localName != nil))
            for uuid in owned.serviceUUIDs {
                let found = view.contains(serviceUUID: uuid)
                #expect(found)
            }
            for element in owned.manufacturerData {
                let found = view.manufacturerData(companyID: element.companyID) != nil
                #expect(found)
            }
            for element in owned.serviceData {
                let found = view.serviceData(element.uuid) != nil
                #expect(found)
            }
            let foundAnother = view.contains(serviceUUID: "00000000-0000-0000-0000-000000000001")
            #expect(!foundAnother)
        }
    }

    private func randomData(_ generator: inout SeededGenerator) -> [UInt8] {
        if Bool.random(using: &generator) { return generator.bytes(.random(in: 0...64, using: &generator)) }
        let types: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 0x0A, 0x14, 0x15, 0x16, 0x19, 0x1F, 0x20, 0x21, 0xFF, 0x99]
        var data: [UInt8] = []
        for _ in 0..<4 {
            let body = generator.bytes(.random(in: 0...20, using: &generator))
            data += [UInt8(body.count + 1), types.randomElement(using: &generator) ?? 1] + body
        }
        return Array(data.prefix(.random(in: 0...data.count, using: &generator)))
    }
}
