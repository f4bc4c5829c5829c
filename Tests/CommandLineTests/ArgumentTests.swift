import BluetoothLE
import BluetoothCommandLine
import Testing

/// What the types of arguments accept and refuse.
struct ArgumentTests {
    @Test(
        "A range of signal strengths is MIN..MAX",
        arguments: [
            ("-70..0", -70...0), ("-127..20", -127...20), ("-60..-60", -60 ... -60), ("-128..127", -128...127),
        ] as [(String, ClosedRange<Int8>)])
    func window(text: String, expected: ClosedRange<Int8>) {
        #expect(SignalStrengths(argument: text)?.range == expected)
    }

    @Test(
        "A range with bounds that are missing, in the wrong order or out of range is refused",
        arguments: [
            "", "..", "-70", "-70..", "..0", "0..-70", "-70...0", "-70..x", "-129..0", "0..128", "-70 ..0", "-70-0",
        ])
    func noWindow(text: String) {
        #expect(SignalStrengths(argument: text) == nil)
    }

    @Test(
        "Seconds have at most three decimal places and are shown as they were given",
        arguments: [
            ("30", .seconds(30), "30"), ("0.5", .milliseconds(500), "0.5"), ("0.001", .milliseconds(1), "0.001"),
            ("1e2", .seconds(100), "100"), ("31536000", .seconds(31_536_000), "31536000"),
        ] as [(String, Duration, String)])
    func seconds(text: String, duration: Duration, description: String) {
        let seconds = Seconds(argument: text)
        #expect(seconds?.duration == duration)
        #expect(seconds?.description == description)
    }

    @Test(
        "Invalid times are refused",
        arguments: ["", "0", "-1", "0.0001", "31536001", "nan", "inf", "1e300", "ten", "1 s"])
    func noSeconds(text: String) {
        #expect(Seconds(argument: text) == nil)
    }

    @Test(
        "A chunk size is a number of octets that fits in a notification, or mtu",
        arguments: [
            ("1", .octets(1)), ("20", .octets(20)), ("509", .octets(509)), ("mtu", .maximum), ("0", nil), ("510", nil),
            ("-1", nil), ("MTU", nil), ("", nil), ("20.0", nil),
        ] as [(String, Subscriber.ChunkSize?)])
    func chunkSize(text: String, expected: Subscriber.ChunkSize?) {
        #expect(Subscriber.ChunkSize(argument: text) == expected)
    }

    @Test("A chunk size is shown as it was written", arguments: ["20", "mtu"])
    func chunkSizeText(text: String) {
        #expect(Subscriber.ChunkSize(argument: text)?.defaultValueDescription == text)
    }

    @Test(
        "The name of a peer cannot control the terminal",
        arguments: [
            ("BCS", "\"BCS\""), ("", "\"\""), ("a\"b", "\"a\\\"b\""), ("Zoë 📇", "\"Zoë 📇\""),
            ("\u{1B}[2J", "\"\\u{1B}[2J\""), ("a\r\nb", "\"a\\r\\nb\""), ("\u{9B}1m", "\"\\u{009B}1m\""),
            ("\u{202E}drac", "\"\\u{202E}drac\""), ("\u{2028}", "\"\\u{2028}\""),
        ])
    func quotedText(text: String, expected: String) {
        #expect(quoted(text) == expected)
    }
}
