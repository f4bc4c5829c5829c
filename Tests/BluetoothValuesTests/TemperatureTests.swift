import BluetoothBase
import BluetoothValues
import TestSupport
import Testing

@Suite("Temperature and Temperature Measurement")
struct TemperatureTests {
    @Test(
        "measurements are encoded and decoded",
        arguments: [
            .init("00 6C 01 00 FF", .init(temperature: MedFloat32(36.4, exponent: -1))),
            .init("00 38 0E 00 FE", .init(temperature: MedFloat32(36.4))),
            .init("01 D9 03 00 FF", .init(temperature: MedFloat32(98.5, exponent: -1), unit: .fahrenheit)),
            .init(
                "02 6C 01 00 FF E8 07 02 1D 17 3B 3A",
                .init(temperature: MedFloat32(36.4, exponent: -1), timeStamp: leapDay)),
            .init(
                "07 D9 03 00 FF E8 07 02 1D 17 3B 3A 06",
                .init(
                    temperature: MedFloat32(98.5, exponent: -1), unit: .fahrenheit, timeStamp: leapDay,
                    type: .mouth)),
            .init("04 FF FF 7F 00 02", .init(temperature: .nan, type: .body)),
            .init("00 00 00 80 00", .init(temperature: .notAtThisResolution)),
            .init("00 FE FF 7F 00", .init(temperature: .positiveInfinity)),
            .init("00 02 00 80 00", .init(temperature: .negativeInfinity)),
            .init("00 01 00 80 00", .init(temperature: .reserved)),
        ] as [Example<TemperatureMeasurement>])
    func measurement(_ example: Example<TemperatureMeasurement>) throws {
        try example.check()
    }

    @Test("reserved flags and unknown fields are ignored")
    func reserved() throws {
        let value = TemperatureMeasurement(temperature: MedFloat32(36.4, exponent: -1))
        try Example("F8 6C 01 00 FF AA BB", value).checkDecoding()
    }

    @Test("an invalid time stamp is rejected")
    func invalidTimeStamp() {
        let value = bytes("02 6C 01 00 FF E8 07 0D 1D 17 3B 3A")
        #expect(failure(of: TemperatureMeasurement.self, value) == DecodingFailure(.invalidValue, at: 7))
    }

    @Test(
        "temperatures are converted to degrees Celsius from either unit",
        arguments: [(212, 100), (32, 0), (-40, -40)] as [(Double, Double)])
    func celsius(_ fahrenheit: Double, celsius: Double) {
        let value = TemperatureMeasurement(temperature: MedFloat32(fahrenheit), unit: .fahrenheit)
        #expect(value.celsius == celsius)
        #expect(TemperatureMeasurement(temperature: MedFloat32(celsius)).celsius == celsius)
    }

    @Test("temperature types are encoded and decoded")
    func types() throws {
        let types: [TemperatureType] = [
            .armpit, .body, .ear, .finger, .gastrointestinalTract, .mouth, .rectum, .toe, .tympanum,
        ]
        for (number, type) in zip(1..., types) { try Example("0\(number)", type).check() }
        try Example("C8", TemperatureType(rawValue: 200)).check()
    }

    @Test(
        "environmental temperatures are encoded and decoded",
        arguments: [
            .init("66 09", .init(celsius: 24.06)), .init("00 00", .init(celsius: 0)),
            .init("FF FF", .init(celsius: -0.01)), .init("FF 7F", .init(celsius: 327.67)),
            .init("4D 95", .init(celsius: -273.15)), .init("00 80", .init(celsius: nil)),
        ] as [Example<Temperature>])
    func temperature(_ example: Example<Temperature>) throws {
        try example.check()
    }

    @Test("a temperature below absolute zero is rejected", arguments: ["4C 95", "01 80"])
    func tooCold(_ text: String) {
        #expect(failure(of: Temperature.self, bytes(text)) == DecodingFailure(.invalidValue, at: 0))
    }

    @Test(
        "a temperature is rounded to the nearest multiple of its unit",
        arguments: [
            (24.064, "66 09"), (24.056, "66 09"), (400, "FF 7F"), (-400, "4D 95"), (.infinity, "FF 7F"),
            (-.infinity, "4D 95"), (.nan, "00 80"),
        ] as [(Double, String)])
    func nearest(_ celsius: Double, text: String) {
        #expect(Temperature(celsius: celsius).encoded == bytes(text))
    }
}
