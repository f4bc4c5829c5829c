import BluetoothBase
import BluetoothValues
import TestSupport
import Testing

@Suite("Current Time")
struct CurrentTimeTests {
    @Test(
        "times are encoded and decoded",
        arguments: [
            .init(
                "E8 07 02 1D 17 3B 3A 04 80 01",
                .init(
                    dateTime: leapDay, dayOfWeek: .thursday, fractions256: 128, adjustReason: .manualTimeUpdate)),
            .init(
                "2E 06 0C 1F 00 00 00 07 00 0E",
                .init(
                    dateTime: DateTime(year: 1582, month: 12, day: 31), dayOfWeek: .sunday,
                    adjustReason: [
                        .externalReferenceTimeUpdate, .changeOfTimeZone, .changeOfDaylightSavingTime,
                    ])),
            .init(
                "0F 27 01 01 00 00 00 01 FF 00",
                .init(dateTime: DateTime(year: 9999, month: 1, day: 1), dayOfWeek: .monday, fractions256: 255)),
            // A clock that has never been set.
            .init(
                "00 00 00 00 01 02 03 00 00 00",
                .init(dateTime: DateTime(year: nil, month: nil, day: nil, hours: 1, minutes: 2, seconds: 3))),
        ] as [Example<CurrentTime>])
    func time(_ example: Example<CurrentTime>) throws {
        try example.check()
    }

    @Test("reserved reasons are ignored")
    func reservedReasons() throws {
        let time = CurrentTime(dateTime: leapDay, adjustReason: .changeOfTimeZone)
        try Example("E8 07 02 1D 17 3B 3A 00 00 F4", time).checkDecoding()
    }

    @Test(
        "an invalid time is rejected, with its offset",
        arguments: [
            ("2D 06 02 1D 17 3B 3A 04 80 01", 0), ("10 27 02 1D 17 3B 3A 04 80 01", 0),
            ("E8 07 0D 1D 17 3B 3A 04 80 01", 2), ("E8 07 02 20 17 3B 3A 04 80 01", 3),
            ("E8 07 02 1D 18 3B 3A 04 80 01", 4), ("E8 07 02 1D 17 3C 3A 04 80 01", 5),
            ("E8 07 02 1D 17 3B 3C 04 80 01", 6), ("E8 07 02 1D 17 3B 3A 08 80 01", 7),
        ])
    func invalid(_ text: String, offset: Int) {
        #expect(failure(of: CurrentTime.self, bytes(text)) == DecodingFailure(.invalidValue, at: offset))
    }

    @Test("an invalid time is encoded as the nearest valid one")
    func nearest() {
        let late = DateTime(year: .max, month: .max, day: .max, hours: .max, minutes: .max, seconds: .max)
        #expect(CurrentTime(dateTime: late).encoded == bytes("0F 27 0C 1F 17 3B 3B 00 00 00"))
        let early = DateTime(year: 1, month: 0, day: 0)
        #expect(CurrentTime(dateTime: early).encoded == bytes("2E 06 00 00 00 00 00 00 00 00"))
    }
}
