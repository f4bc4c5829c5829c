import BluetoothValues
import Testing

@Suite("Heart Rate Measurement and Body Sensor Location")
struct HeartRateTests {
    static let measurements: [Example<HeartRateMeasurement>] = [
        .init("00 48", .init(heartRate: 72)),
        .init("00 FF", .init(heartRate: 255)),
        .init("01 00 01", .init(heartRate: 256)),
        .init("04 48", .init(heartRate: 72, sensorContact: .notDetected)),
        .init("06 48", .init(heartRate: 72, sensorContact: .detected)),
        .init("08 48 64 00", .init(heartRate: 72, energyExpended: 100)),
        .init(
            "16 50 20 03 00 04",
            .init(heartRate: 80, sensorContact: .detected, rrIntervals: [.microseconds(781_250), .seconds(1)])),
        .init(
            "1F 2C 01 FF FF 01 00 FF FF",
            .init(
                heartRate: 300, sensorContact: .detected, energyExpended: 65535,
                rrIntervals: [.seconds(1) / 1024, .seconds(65535) / 1024])),
    ]

    @Test("measurements are encoded and decoded", arguments: measurements)
    func measurement(_ example: Example<HeartRateMeasurement>) throws {
        try example.check()
    }

    @Test(
        "other encodings with the same meaning are accepted",
        arguments: [
            // Sixteen bits where eight would do.
            .init("01 48 00", .init(heartRate: 72)),
            // Contact is reported by a sensor that does not support it.
            .init("02 48", .init(heartRate: 72)),
            // Reserved flags and unknown fields.
            .init("E0 48 AA BB", .init(heartRate: 72)),
        ] as [Example<HeartRateMeasurement>])
    func leniency(_ example: Example<HeartRateMeasurement>) throws {
        try example.checkDecoding()
    }

    @Test(
        "an interval is rounded to the nearest multiple of its unit",
        arguments: [
            (.milliseconds(833), [0x55, 0x03]),
            (.zero, [0, 0]),
            (.seconds(-1), [0, 0]),
            (.seconds(64), [0xFF, 0xFF]),
            (.seconds(Int64.max), [0xFF, 0xFF]),
        ] as [(Duration, [UInt8])])
    func interval(_ interval: Duration, octets: [UInt8]) {
        let value = HeartRateMeasurement(heartRate: 72, rrIntervals: [interval])
        #expect(value.encoded == [0x10, 72] + octets)
    }

    @Test(
        "locations, including reserved ones, are encoded and decoded",
        arguments: [
            (.init("00", .other), "other"), (.init("01", .chest), "chest"), (.init("02", .wrist), "wrist"),
            (.init("03", .finger), "finger"), (.init("04", .hand), "hand"), (.init("05", .earLobe), "ear lobe"),
            (.init("06", .foot), "foot"), (.init("C8", .init(rawValue: 200)), "location 200"),
        ] as [(Example<BodySensorLocation>, String)])
    func location(_ example: Example<BodySensorLocation>, name: String) throws {
        try example.check()
        #expect("\(example.value)" == name)
    }
}
