import Testing

@testable import BluetoothLE

@Suite("Storing a value in the place of the previous one")
struct ReusedOctetsTests {
    private static let lengths = [0, 1, 20, 21, 24, 100, 244, 512]

    @Test("The new octets replace the old ones", arguments: lengths, lengths)
    func contents(_ old: Int, _ new: Int) {
        var octets: [UInt8]? = [UInt8](repeating: 1, count: old)
        let value = (0..<new).map { UInt8(truncatingIfNeeded: $0) }
        octets.overwrite(with: value.span)
        #expect(octets == value)
    }

    @Test("A value that is still used does not change", arguments: lengths, lengths)
    func keptValue(_ old: Int, _ new: Int) {
        var octets: [UInt8]? = [UInt8](repeating: 1, count: old)
        let kept = octets
        octets.overwrite(with: [UInt8](repeating: 2, count: new).span)
        #expect(octets == [UInt8](repeating: 2, count: new))
        #expect(kept == [UInt8](repeating: 1, count: old))
    }

    @Test("Values that are kept waste little memory, however long the others are")
    func capacity() throws {
        var octets: [UInt8]?
        for length in Self.lengths + Self.lengths.reversed() {
            // The longest value is released before the next one arrives, the others are kept.
            octets.overwrite(with: [UInt8](repeating: 2, count: 512).span)
            octets.overwrite(with: [UInt8](repeating: 3, count: length).span)
            let kept = try #require(octets)
            // The size of an allocation is rounded up.
            #expect(kept.capacity <= max(64, 2 * length) + 32)
        }
    }

    @Test(
        "A value that is no longer used lends its memory to one that fits", arguments: [(20, 20), (50, 1), (100, 60)])
    func memory(_ old: Int, _ new: Int) throws {
        var octets: [UInt8]? = [UInt8](repeating: 1, count: old)
        let capacity = try #require(octets).capacity
        octets.overwrite(with: [UInt8](repeating: 2, count: new).span)
        #expect(octets?.capacity == capacity)
        octets.overwrite(with: [UInt8](repeating: 3, count: old).span)
        #expect(octets == [UInt8](repeating: 3, count: old) && octets?.capacity == capacity)
    }

    @Test("The first value is stored as it is", arguments: lengths)
    func firstValue(_ length: Int) {
        var octets: [UInt8]?
        let value = [UInt8](repeating: 5, count: length)
        octets.overwrite(with: value.span)
        #expect(octets == value)
    }
}
