import BluetoothLE
import FoundationEssentials
import Testing

/// Applications on Foundation have `Data`. This file compiles without conversions.
struct CollectionTests {
    private static let octets: [UInt8] = [1, 2, 3]
    private static let data = Data(octets)

    @Test func `advertising accepts any collection of octets`() {
        let set = AdvertisingParameters(data: Self.data, scanResponse: Self.octets[...])
        #expect(set.data == Self.octets && set.scanResponse == Self.octets)
        #expect(AdvertisingParameters(data: []).scanResponse.isEmpty)
        #expect(PeriodicAdvertising(data: Self.data).data == Self.octets && PeriodicAdvertising().data.isEmpty)
        #expect(PeriodicSubeventData(subevent: 0, data: Self.data, responseSlots: 0..<1).data == Self.octets)
        #expect(AdvertisementData.ServiceData(uuid: "180D", data: Self.data).data == Self.octets)
        #expect(AdvertisementData.ManufacturerData(companyID: 1, data: Self.data).data == Self.octets)
        #expect(AdvertisementData.Other(type: .flags, data: Self.data).data == Self.octets)
    }

    @Test func `values accept any collection of octets`() {
        #expect(GATTAttributeValue.constant(Self.data) == .constant(Self.octets))
        #expect(GATTAttributeValue.fixedLength(Self.octets[...]) == .fixedLength([1, 2, 3]))
        #expect(GATTAttributeValue.variableLength(Self.data, maximum: 9) == .variableLength(Self.octets, maximum: 9))
        #expect(AttributeValue(handle: 3, value: Self.data).value == Self.octets)
        let material = EncryptedDataKeyMaterial(
            sessionKey: Data(repeating: 1, count: 16), initializationVector: Data(repeating: 2, count: 8))
        #expect(material.sessionKey == [UInt8](repeating: 1, count: 16))
        #expect(material.initializationVector == [UInt8](repeating: 2, count: 8))
    }
}
