import BluetoothBase
import TestSupport
import Testing

@Suite("Reading bytes")
struct ByteReaderTests {
    /// A way to read a number, with the number of octets it takes.
    struct Field: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var length: Int
        var value: UInt64
        var read: @Sendable (inout ByteReader) throws(DecodingFailure) -> UInt64
    }

    /// What each of them reads from 81, 82, … 88.
    static let fields: [Field] = [
        Field(testDescription: "UInt8", length: 1, value: 0x81) { reader throws(DecodingFailure) in
            UInt64(try reader.readUInt8())
        },
        Field(testDescription: "Int8", length: 1, value: UInt64(bitPattern: -127)) { reader throws(DecodingFailure) in
            UInt64(bitPattern: Int64(try reader.readInt8()))
        },
        Field(testDescription: "UInt16", length: 2, value: 0x8281) { reader throws(DecodingFailure) in
            UInt64(try reader.readUInt16())
        },
        Field(testDescription: "UInt24", length: 3, value: 0x83_8281) { reader throws(DecodingFailure) in
            UInt64(try reader.readUInt24())
        },
        Field(testDescription: "UInt32", length: 4, value: 0x8483_8281) { reader throws(DecodingFailure) in
            UInt64(try reader.readUInt32())
        },
        Field(testDescription: "6 octets", length: 6, value: 0x8685_8483_8281) { reader throws(DecodingFailure) in
            try reader.readLittleEndian(byteCount: 6)
        },
        Field(testDescription: "UInt64", length: 8, value: 0x8887_8685_8483_8281) { reader throws(DecodingFailure) in
            try reader.readUInt64()
        },
    ]

    @Test("numbers are little-endian", arguments: fields)
    func numbers(_ field: Field) throws {
        let input: [UInt8] = Array(0x81...0x88)
        var reader = ByteReader(input.span)
        let value = try field.read(&reader)
        #expect(value == field.value)
        #expect(reader.offset == field.length)
        #expect(reader.remaining == 8 - field.length)
    }

    @Test("a truncated number is rejected with the number of missing bytes, and nothing is consumed", arguments: fields)
    func truncatedNumbers(_ field: Field) {
        for count in 0..<field.length {
            let input: [UInt8] = Array(repeating: 0xFF, count: count)
            var reader = ByteReader(input.span)
            var failure: DecodingFailure?
            do throws(DecodingFailure) { _ = try field.read(&reader) } catch { failure = error }
            #expect(failure == DecodingFailure(.truncated(missing: field.length - count), at: count))
            #expect(reader.offset == 0)
        }
    }

    @Test("Reading returns the requested number of bytes, or all that remain")
    func bytesAreAViewOfTheSameMemory() throws {
        let input = bytes("01 02 03 04 05")
        var reader = ByteReader(input.span)
        _ = try reader.readUInt8()
        let two = try reader.readBytes(2)
        let copied = Array(two)
        #expect(copied == [2, 3])
        let none = try reader.readBytes(0)
        let noneCount = none.count
        #expect(noneCount == 0)
        let rest = reader.readRemaining()
        let copiedRest = Array(rest)
        #expect(copiedRest == [4, 5])
        let nothing = reader.readRemaining().count
        #expect(nothing == 0)
    }

    @Test(
        "a count that is negative or exceeds the remaining bytes is rejected",
        arguments: [
            (4, DecodingFailure(.truncated(missing: 1), at: 3)),
            (Int.max, DecodingFailure(.truncated(missing: Int.max - 3), at: 3)),
            (-1, DecodingFailure(.invalidLength, at: 0)), (Int.min, DecodingFailure(.invalidLength, at: 0)),
        ])
    func badCounts(_ count: Int, _ expected: DecodingFailure) {
        let input = bytes("01 02 03")
        var reader = ByteReader(input.span)
        var failure: DecodingFailure?
        do throws(DecodingFailure) { _ = try reader.readBytes(count) } catch { failure = error }
        #expect(failure == expected)
        #expect(reader.offset == 0)
    }

    @Test("finishing reports how many bytes are left over, and where", arguments: 0...3)
    func finish(_ read: Int) {
        let input = bytes("01 02 03")
        var reader = ByteReader(input.span)
        reader.offset = read
        var failure: DecodingFailure?
        do throws(DecodingFailure) { try reader.finish() } catch { failure = error }
        #expect(failure == (read == 3 ? nil : DecodingFailure(.trailingBytes(count: 3 - read), at: read)))
    }
}
