import BluetoothBase
import BluetoothValues
import TestSupport
import Testing

@Suite("Values that are too short or too long")
struct LengthTests {
    /// A value, and for each of its prefixes, the empty one first, how many octets the prefix would need; nil if it is
    /// a value itself.
    struct Case: Sendable, CustomTestStringConvertible {
        var type: any CharacteristicValue.Type
        var text: String
        var needed: [Int?]

        var testDescription: String { "\(type) \(text)" }
    }

    static let cases: [Case] = [
        Case(type: HeartRateMeasurement.self, text: "00 48", needed: [1, 2]),
        Case(type: HeartRateMeasurement.self, text: "01 2C 01", needed: [1, 3, 3]),
        Case(type: HeartRateMeasurement.self, text: "0E 48 64 00", needed: [1] + .init(repeating: 4, count: 3)),
        Case(
            type: HeartRateMeasurement.self, text: "1F 2C 01 FF FF 01 00 02 00",
            needed: [1] + .init(repeating: 7, count: 6) + [nil, 9]),
        Case(type: BodySensorLocation.self, text: "01", needed: [1]),
        Case(type: BatteryLevel.self, text: "64", needed: [1]),
        Case(type: SystemID.self, text: "01 02 03 04 05 56 34 12", needed: .init(repeating: 8, count: 8)),
        Case(type: PnPID.self, text: "01 0F 00 34 12 13 02", needed: .init(repeating: 7, count: 7)),
        Case(
            type: EncryptedDataKeyMaterial.self,
            text: "57 A9 DA 12 D1 2E 6E 13 1E 20 61 2A D1 0A 6A 19 9E 7A 00 EF B1 7A E7 46",
            needed: .init(repeating: 24, count: 24)),
        Case(type: CurrentTime.self, text: "E8 07 02 1D 17 3B 3A 04 80 01", needed: .init(repeating: 10, count: 10)),
        Case(type: TemperatureMeasurement.self, text: "00 6C 01 00 FF", needed: [1] + .init(repeating: 5, count: 4)),
        Case(
            type: TemperatureMeasurement.self, text: "07 D9 03 00 FF E8 07 02 1D 17 3B 3A 06",
            needed: [1] + .init(repeating: 13, count: 12)),
        Case(type: TemperatureType.self, text: "01", needed: [1]),
        Case(type: Temperature.self, text: "66 09", needed: [2, 2]),
        Case(type: WeightMeasurement.self, text: "00 08 39", needed: [1, 3, 3]),
        Case(
            type: WeightMeasurement.self, text: "0F 68 42 E8 07 02 1D 17 3B 3A 01 EA 00 B2 02",
            needed: [1] + .init(repeating: 15, count: 14)),
        Case(type: CSCMeasurement.self, text: "00", needed: [1]),
        Case(type: CSCMeasurement.self, text: "01 E8 03 00 00 00 04", needed: [1] + .init(repeating: 7, count: 6)),
        Case(type: CSCMeasurement.self, text: "02 64 00 00 08", needed: [1] + .init(repeating: 5, count: 4)),
        Case(
            type: CSCMeasurement.self, text: "03 E8 03 00 00 00 04 64 00 00 08",
            needed: [1] + .init(repeating: 11, count: 10)),
        Case(type: CSCFeature.self, text: "03 00", needed: [2, 2]),
        Case(type: ManufacturerNameString.self, text: "4E 6F C3 A9", needed: [nil, nil, nil, nil]),
    ]

    @Test("a truncated value is rejected, with its length and the number of missing octets", arguments: cases)
    func prefixes(_ test: Case) throws {
        let value = bytes(test.text)
        try #require(test.needed.count == value.count)
        #expect(failure(of: test.type, value) == nil)
        for (count, needed) in test.needed.enumerated() {
            let expected = needed.map { DecodingFailure(.truncated(missing: $0 - count), at: count) }
            #expect(failure(of: test.type, Array(value.prefix(count))) == expected, "of \(count) octets")
        }
    }

    @Test(
        "a fixed-length value with extra octets is rejected",
        arguments: [
            (BodySensorLocation.self, "01"), (BatteryLevel.self, "64"), (SystemID.self, "01 02 03 04 05 56 34 12"),
            (PnPID.self, "01 0F 00 34 12 13 02"), (CurrentTime.self, "E8 07 02 1D 17 3B 3A 04 80 01"),
            (TemperatureType.self, "01"), (Temperature.self, "66 09"), (CSCFeature.self, "03 00"),
        ] as [(any CharacteristicValue.Type, String)])
    func trailing(_ type: any CharacteristicValue.Type, text: String) {
        let value = bytes(text)
        let expected = DecodingFailure(.trailingBytes(count: 1), at: value.count)
        #expect(failure(of: type, value + [0]) == expected)
    }

    @Test("each type has its assigned UUID")
    func uuids() {
        let types: [(any CharacteristicValue.Type, BluetoothUUID)] = [
            (BatteryLevel.self, "2A19"), (TemperatureMeasurement.self, "2A1C"), (TemperatureType.self, "2A1D"),
            (SystemID.self, "2A23"), (ModelNumberString.self, "2A24"), (SerialNumberString.self, "2A25"),
            (FirmwareRevisionString.self, "2A26"), (HardwareRevisionString.self, "2A27"),
            (SoftwareRevisionString.self, "2A28"), (ManufacturerNameString.self, "2A29"), (CurrentTime.self, "2A2B"),
            (HeartRateMeasurement.self, "2A37"), (BodySensorLocation.self, "2A38"), (PnPID.self, "2A50"),
            (CSCMeasurement.self, "2A5B"), (CSCFeature.self, "2A5C"), (Temperature.self, "2A6E"),
            (WeightMeasurement.self, "2A9D"),
        ]
        for (type, uuid) in types { #expect(type.uuid == uuid) }
    }
}
