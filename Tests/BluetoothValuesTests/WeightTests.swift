import BluetoothBase
import BluetoothValues
import TestSupport
import Testing

@Suite("Weight Measurement")
struct WeightTests {
    @Test(
        "measurements are encoded and decoded",
        arguments: [
            .init("00 08 39", .init(weight: 73)),
            .init("00 09 39", .init(weight: 73.005)),
            .init("00 FE FF", .init(weight: 327.67)),
            .init("00 FF FF", .init(weight: nil)),
            .init("01 11 27", .init(weight: 100.01, units: .imperial)),
            .init("01 FF FF", .init(weight: nil, units: .imperial)),
            .init("04 08 39 FF", .init(weight: 73, userID: WeightMeasurement.unknownUser)),
            .init("08 08 39 EA 00 DC 06", .init(weight: 73, body: .init(massIndex: 23.4, height: 1.756))),
            .init("02 08 39 E8 07 02 1D 17 3B 3A", .init(weight: 73, timeStamp: leapDay)),
            .init(
                "0F 68 42 E8 07 02 1D 17 3B 3A 01 EA 00 B3 02",
                .init(
                    weight: 170, units: .imperial, timeStamp: leapDay, userID: 1,
                    body: .init(massIndex: 23.4, height: 69.1))),
        ] as [Example<WeightMeasurement>])
    func measurement(_ example: Example<WeightMeasurement>) throws {
        try example.check()
    }

    @Test("every possible weight is decoded and encoded", arguments: [0, 1] as [UInt8])
    func weights(flags: UInt8) throws {
        for number in 0...UInt16.max {
            let octets = [flags, UInt8(truncatingIfNeeded: number), UInt8(number >> 8)]
            #expect(try WeightMeasurement(decoding: octets).encoded == octets)
        }
    }

    @Test("every possible body mass index and height is decoded and encoded", arguments: [8, 9] as [UInt8])
    func bodies(flags: UInt8) throws {
        for number in 0...UInt16.max {
            let octets = [UInt8(truncatingIfNeeded: number), UInt8(number >> 8)]
            let value = [flags, 0, 0] + octets + octets
            #expect(try WeightMeasurement(decoding: value).encoded == value)
        }
    }

    @Test("reserved flags and unknown fields are ignored")
    func reserved() throws {
        try Example("F0 08 39 AA BB", WeightMeasurement(weight: 73)).checkDecoding()
    }

    @Test("weights are converted to kilograms from either system of units")
    func kilograms() throws {
        #expect(WeightMeasurement(weight: 73).kilograms == 73)
        let pounds = try #require(WeightMeasurement(weight: 100, units: .imperial).kilograms)
        #expect(abs(pounds - 45.359_237) < 1e-9)
        #expect(WeightMeasurement(weight: nil, units: .imperial).kilograms == nil)
    }

    @Test(
        "a weight is rounded to the nearest multiple of its unit",
        arguments: [
            (73.0024, "00 08 39"), (73.0026, "00 09 39"), (327.675, "00 FE FF"), (1000, "00 FE FF"), (-1, "00 00 00"),
            (.nan, "00 FF FF"), (.infinity, "00 FE FF"),
        ] as [(Double, String)])
    func nearest(_ weight: Double, text: String) {
        #expect(WeightMeasurement(weight: weight).encoded == bytes(text))
    }

    @Test("body mass index and height are rounded and clamped")
    func nearestBody() {
        let bodies: [(WeightMeasurement.Body, String)] = [
            (.init(massIndex: 23.44, height: 1.7564), "EA 00 DC 06"),
            (.init(massIndex: -1, height: .nan), "00 00 00 00"),
            (.init(massIndex: 10000, height: .infinity), "FF FF FF FF"),
        ]
        for (body, text) in bodies {
            #expect(WeightMeasurement(weight: 73, body: body).encoded == bytes("08 08 39 " + text))
        }
    }
}
