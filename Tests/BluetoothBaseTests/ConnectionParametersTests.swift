import BluetoothBase
import TestSupport
import Testing

@Suite("Connection parameters")
struct ConnectionParametersTests {
    @Test(
        "parameters are valid within their ranges, if the timeout exceeds the latency",
        arguments: [
            (6, 6, 0, 10, true), (3200, 3200, 0, 3200, true), (6, 3200, 0, 3200, true), (24, 40, 4, 51, true),
            (5, 6, 0, 100, false), (6, 5, 0, 100, false), (80, 100, 0, 10, false), (3200, 3201, 0, 3200, false),
            (6, 6, 499, 3200, true), (6, 6, 500, 3200, false), (6, 6, 0, 9, false), (6, 6, 0, 3201, false),
            // 4 * timeout must exceed (1 + latency) * intervalMax: equal is not enough.
            (40, 40, 0, 10, false), (40, 40, 0, 11, true), (24, 40, 4, 50, false), (400, 400, 31, 3200, false),
            (400, 400, 30, 3200, true), (0xFFFF, 0xFFFF, 0xFFFF, 0xFFFF, false), (0, 0, 0, 0, false),
        ] as [(UInt16, UInt16, UInt16, UInt16, Bool)])
    func validity(_ shortest: UInt16, _ longest: UInt16, _ latency: UInt16, _ timeout: UInt16, _ valid: Bool) {
        let parameters = ConnectionParameters(
            intervalMin: shortest, intervalMax: longest, latency: latency, timeout: timeout)
        #expect(parameters.isValid == valid)
    }

    @Test("durations are rounded to the protocol's units and clamped to its ranges")
    func times() {
        let parameters = ConnectionParameters(
            minimumInterval: .milliseconds(30), maximumInterval: .microseconds(50_600), latency: 4,
            supervisionTimeout: .milliseconds(1994))
        #expect(parameters == ConnectionParameters(intervalMin: 24, intervalMax: 40, latency: 4, timeout: 199))
        #expect(parameters.minimumInterval == .milliseconds(30))
        #expect(parameters.maximumInterval == .milliseconds(50))
        #expect(parameters.supervisionTimeout == .milliseconds(1990))

        let extreme = ConnectionParameters(
            minimumInterval: .seconds(-5), maximumInterval: .seconds(Int64.max), latency: 9999,
            supervisionTimeout: .zero)
        #expect(extreme == ConnectionParameters(intervalMin: 6, intervalMax: 3200, latency: 499, timeout: 10))
    }

    @Test(
        "the description gives the times in milliseconds",
        arguments: [
            (6, 12, 0, 100, "interval 7.5-15 ms, latency 0, timeout 1000 ms"),
            (9, 9, 4, 3200, "interval 11.25 ms, latency 4, timeout 32000 ms"),
            (7, 0xFFFF, 0, 0, "interval 8.75-81918.75 ms, latency 0, timeout 0 ms"),
        ] as [(UInt16, UInt16, UInt16, UInt16, String)])
    func text(_ shortest: UInt16, _ longest: UInt16, _ latency: UInt16, _ timeout: UInt16, _ text: String) {
        let parameters = ConnectionParameters(
            intervalMin: shortest, intervalMax: longest, latency: latency, timeout: timeout)
        #expect(parameters.description == text)
    }

    @Test("Connection parameters are encoded in little-endian order") func bytesAreLittleEndian() throws {
        let parameters = ConnectionParameters(intervalMin: 24, intervalMax: 40, latency: 0x0102, timeout: 500)
        let encoded = written { $0.append(parameters) }
        #expect(encoded == bytes("18 00 28 00 02 01 F4 01"))
        var reader = ByteReader(encoded.span)
        let decoded = try reader.readConnectionParameters()
        #expect(decoded == parameters)
        #expect(reader.remaining == 0)
    }
}
