import BluetoothValues
import Testing

@Suite("CSC Measurement and CSC Feature")
struct CyclingTests {
    typealias Wheel = CSCMeasurement.Wheel
    typealias Crank = CSCMeasurement.Crank

    @Test(
        "measurements are encoded and decoded",
        arguments: [
            .init("00", .init()),
            .init("01 E8 03 00 00 00 04", .init(wheel: Wheel(cumulativeRevolutions: 1000, lastEventTime: 1024))),
            .init("02 64 00 00 08", .init(crank: Crank(cumulativeRevolutions: 100, lastEventTime: 2048))),
            .init(
                "03 FE FF FF FF 01 00 FE FF 02 00",
                .init(
                    wheel: Wheel(cumulativeRevolutions: .max - 1, lastEventTime: 1),
                    crank: Crank(cumulativeRevolutions: .max - 1, lastEventTime: 2))),
        ] as [Example<CSCMeasurement>])
    func measurement(_ example: Example<CSCMeasurement>) throws {
        try example.check()
    }

    @Test("reserved flags and unknown fields are ignored")
    func reserved() throws {
        let crank = Crank(cumulativeRevolutions: 100, lastEventTime: 2048)
        try Example("FE 64 00 00 08 AA BB", CSCMeasurement(crank: crank)).checkDecoding()
        try Example("F9 FF", CSCFeature.wheelRevolutionData).checkDecoding()
        #expect(CSCFeature(rawValue: 0xFFFF).encoded == [7, 0])
    }

    @Test(
        "features are encoded and decoded",
        arguments: [
            .init("00 00", []), .init("01 00", .wheelRevolutionData), .init("02 00", .crankRevolutionData),
            .init("04 00", .multipleSensorLocations),
            .init("03 00", [.wheelRevolutionData, .crankRevolutionData]),
        ] as [Example<CSCFeature>])
    func feature(_ example: Example<CSCFeature>) throws {
        try example.check()
    }

    @Test(
        "speed with a wheel circumference of two metres",
        arguments: [
            (
                Wheel(cumulativeRevolutions: 1000, lastEventTime: 0),
                Wheel(cumulativeRevolutions: 1003, lastEventTime: 1024), 6
            ),
            // The time wraps around, then the counter, then both.
            (
                Wheel(cumulativeRevolutions: 7, lastEventTime: 65024),
                Wheel(cumulativeRevolutions: 8, lastEventTime: 0), 4
            ),
            (
                Wheel(cumulativeRevolutions: .max, lastEventTime: 0),
                Wheel(cumulativeRevolutions: 1, lastEventTime: 2048), 2
            ),
            (
                Wheel(cumulativeRevolutions: .max, lastEventTime: 65535),
                Wheel(cumulativeRevolutions: 0, lastEventTime: 511), 4
            ),
            // The longest measurable.
            (
                Wheel(cumulativeRevolutions: 0, lastEventTime: 1),
                Wheel(cumulativeRevolutions: 65535, lastEventTime: 0), 2048
            ),
            // Rolled backwards.
            (
                Wheel(cumulativeRevolutions: 8, lastEventTime: 0), Wheel(cumulativeRevolutions: 7, lastEventTime: 1024),
                -2
            ),
            // It did not turn.
            (Wheel(cumulativeRevolutions: 8, lastEventTime: 5), Wheel(cumulativeRevolutions: 8, lastEventTime: 5), 0),
            (Wheel(cumulativeRevolutions: 8, lastEventTime: 5), Wheel(cumulativeRevolutions: 8, lastEventTime: 6), 0),
            // It turned in no time.
            (Wheel(cumulativeRevolutions: 8, lastEventTime: 5), Wheel(cumulativeRevolutions: 9, lastEventTime: 5), nil),
        ] as [(Wheel, Wheel, Double?)])
    func speed(from earlier: Wheel, to later: Wheel, speed: Double?) {
        let before = CSCMeasurement(wheel: earlier), after = CSCMeasurement(wheel: later)
        #expect(after.speed(since: before, circumference: 2) == speed)
        #expect(after.cadence(since: before) == nil)
    }

    @Test(
        "cadence",
        arguments: [
            (
                Crank(cumulativeRevolutions: 100, lastEventTime: 0),
                Crank(cumulativeRevolutions: 103, lastEventTime: 2048), 90
            ),
            (
                Crank(cumulativeRevolutions: 7, lastEventTime: 65024),
                Crank(cumulativeRevolutions: 8, lastEventTime: 0), 120
            ),
            (
                Crank(cumulativeRevolutions: .max, lastEventTime: 0),
                Crank(cumulativeRevolutions: 0, lastEventTime: 1024), 60
            ),
            (
                Crank(cumulativeRevolutions: .max, lastEventTime: 65535),
                Crank(cumulativeRevolutions: 1, lastEventTime: 1023), 120
            ),
            (Crank(cumulativeRevolutions: 8, lastEventTime: 5), Crank(cumulativeRevolutions: 8, lastEventTime: 5), 0),
            (Crank(cumulativeRevolutions: 8, lastEventTime: 5), Crank(cumulativeRevolutions: 9, lastEventTime: 5), nil),
        ] as [(Crank, Crank, Double?)])
    func cadence(from earlier: Crank, to later: Crank, cadence: Double?) {
        let before = CSCMeasurement(crank: earlier), after = CSCMeasurement(crank: later)
        #expect(after.cadence(since: before) == cadence)
        #expect(after.speed(since: before, circumference: 2) == nil)
    }

    @Test("a measurement without a wheel or a crank gives no rate")
    func missing() {
        let full = CSCMeasurement(
            wheel: Wheel(cumulativeRevolutions: 1, lastEventTime: 1),
            crank: Crank(cumulativeRevolutions: 1, lastEventTime: 1))
        #expect(full.speed(since: CSCMeasurement(), circumference: 2) == nil)
        #expect(full.cadence(since: CSCMeasurement()) == nil)
        #expect(CSCMeasurement().speed(since: full, circumference: 2) == nil)
        #expect(CSCMeasurement().cadence(since: full) == nil)
    }
}
