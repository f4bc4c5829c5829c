import BluetoothBase
import TestSupport
import Testing

@Suite("Writing bytes")
struct ByteWriterTests {
    @Test("Numbers are little-endian") func numbersAreLittleEndian() {
        let octets = written {
            $0.append(UInt8(0x01))
            $0.append(Int8(-2))
            $0.append(UInt16(0x1234))
            $0.append(UInt32(0x5678_9ABC))
            $0.append(UInt64(0x0102_0304_0506_0708))
            $0.append(0xFFCC_BBAA as UInt64, byteCount: 3)
        }
        #expect(octets == bytes("01 FE 34 12 BC 9A 78 56 08 07 06 05 04 03 02 01 AA BB CC"))
    }

    @Test("Arrays, spans and repeated bytes are appended in order") func runsOfBytes() {
        let octets = written {
            $0.append([1, 2])
            $0.append([3, 4].span)
            $0.append(Span<UInt8>())
            $0.append([])
            $0.append(repeating: 0xEE, count: 3)
        }
        #expect(octets == bytes("01 02 03 04 EE EE EE"))
    }

    @Test("Numbers and bytes are appended together", arguments: [0, 7, 64])
    func numbersBeforeBytes(_ capacity: Int) {
        var writer = ByteWriter(reservingCapacity: capacity)
        writer.append(0x01 as UInt8, 0x0706_0504_0302 as UInt64, 0x0908 as UInt16, then: [0x0A, 0x0B].span)
        writer.append(0x0C as UInt8, 0x0D as UInt16, nil as UInt16?, then: Span<UInt8>())
        #expect(writer.bytes == bytes("01 02 03 04 05 06 07 00 00 08 09 0A 0B 0C 0D 00"))
    }

    @Test("written bytes survive when the buffer grows", arguments: [0, 1, 31, 32, 33, 4096])
    func growing(_ capacity: Int) {
        var writer = ByteWriter(reservingCapacity: capacity)
        #expect(writer.isEmpty)
        for value in 0..<3000 { writer.append(UInt16(value)) }
        #expect(writer.count == 6000)
        let isKept = (0..<3000).allSatisfy {
            writer[2 * $0] == UInt8($0 & 0xFF) && writer[2 * $0 + 1] == UInt8($0 >> 8)
        }
        #expect(isKept)
    }

    @Test("Bytes that exceed the reserved capacity are appended") func aRunLongerThanAllTheRoomThereIs() {
        var writer = ByteWriter(reservingCapacity: 1)
        writer.append(UInt8(9))
        writer.append([UInt8](repeating: 7, count: 10_000))
        #expect(writer.bytes == [9] + [UInt8](repeating: 7, count: 10_000))
    }

    @Test("Overwriting replaces bytes in place") func overwriting() {
        var writer = ByteWriter()
        writer.append(bytes("01 02 03 04 05"))
        writer.overwrite(UInt8(0xAA), at: 4)
        writer.overwrite(UInt16(0xBBCC), at: 1)
        #expect(writer.bytes == bytes("01 CC BB 04 AA"))
    }

    @Test("truncating drops the end, and the next write continues from there", arguments: 0...4)
    func truncating(_ count: Int) {
        let octets = bytes("01 02 03 04")
        var writer = ByteWriter()
        writer.append(octets)
        writer.truncate(to: count)
        #expect(writer.bytes == Array(octets.prefix(count)))
        writer.append(UInt8(9))
        #expect(writer.bytes == Array(octets.prefix(count)) + [9])
    }

    @Test("removing from the front moves the rest up", arguments: 0...4)
    func removingFirst(_ count: Int) {
        let octets = bytes("01 02 03 04")
        var writer = ByteWriter()
        writer.append(octets)
        writer.removeFirst(count)
        #expect(writer.bytes == Array(octets.dropFirst(count)))
        writer.append(UInt8(9))
        #expect(writer.bytes == Array(octets.dropFirst(count)) + [9])
    }

    @Test("A cleared writer is empty and can be used again") func anEmptiedWriterHasNothingOfWhatItHeld() {
        var writer = ByteWriter()
        writer.append(bytes("01 02 03"))
        writer.removeAll()
        #expect(writer.isEmpty)
        #expect(writer.bytes == [])
        writer.append(UInt8(4))
        #expect(writer.bytes == [4])
    }

    @Test("A copy of a writer is independent of the original") func aCopyIsIndependent() {
        var writer = ByteWriter()
        writer.append(UInt8(1))
        var copy = writer
        copy.append(UInt8(2))
        copy.overwrite(UInt8(3), at: 0)
        #expect(writer.bytes == [1])
        #expect(copy.bytes == [3, 2])
    }
}
