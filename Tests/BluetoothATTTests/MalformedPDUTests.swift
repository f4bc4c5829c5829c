import BluetoothATT
import BluetoothBase
import TestSupport
import Testing

private typealias Reason = DecodingFailure.Reason

/// What decoding a PDU throws; nil when it throws nothing.
private func failure(_ pdu: [UInt8]) -> DecodingFailure? {
    do throws(DecodingFailure) {
        _ = try ATTMessage(decoding: pdu.span)
        return nil
    } catch {
        return error
    }
}

struct MalformedPDUTests {
    /// The shortest form of every PDU whose shortest form is longer than its opcode.
    @Test(
        "A2: a truncated PDU is rejected",
        arguments: [
            "01 0A 03 00 02", "02 05 02", "03 17 00", "04 01 00 FF FF", "05 01 01 00 00 28", "06 01 00 FF FF 00 28",
            "07 10 00 1F 00", "08 05 00 09 00 03 28", "09 03 05 00 AA", "0A 03 00", "0C 03 00 16 01",
            "0E 03 00 05 00", "10 01 00 FF FF 00 28", "11 06 01 00 05 00 00 18", "12 03 00", "16 03 00 12 00",
            "17 03 00 12 00", "18 01", "1B 03 00", "1D 03 00", "20 03 00 05 00", "23 03 00 00 00", "52 03 00",
            "D2 03 00 01 00 00 00 11 22 33 44 55 66 77 88",
        ])
    func truncated(_ hexadecimal: String) {
        let pdu = bytes(hexadecimal)
        #expect(failure(pdu) == nil)
        #expect(failure(pdu.dropLast()) == DecodingFailure(.truncated(missing: 1), at: pdu.count - 1))
        // No prefix is accepted as a whole PDU.
        for length in 0..<pdu.count { #expect(failure(Array(pdu.prefix(length))) != nil) }
    }

    @Test(
        "A2: a fixed-length PDU with an extra byte is rejected",
        arguments: [
            "01 0A 03 00 02", "02 05 02", "03 17 00", "04 01 00 FF FF", "0A 03 00", "0C 03 00 16 01", "13", "18 01",
            "19", "1E",
        ])
    func extended(_ hexadecimal: String) {
        let pdu = bytes(hexadecimal)
        #expect(failure(pdu + [0]) == DecodingFailure(.trailingBytes(count: 1), at: pdu.count))
    }

    @Test(
        "A8: malformed lists and invalid fields are rejected",
        arguments: [
            ("", Reason.truncated(missing: 1), 0),
            // Find Information: no format, bad formats, no element, half an element, an element of the other format
            ("05", .truncated(missing: 1), 1),
            ("05 00 01 00 00 28", .invalidValue, 1),
            ("05 03 01 00 00 28", .invalidValue, 1),
            ("05 01", .truncated(missing: 4), 2),
            ("05 01 01 00 00 28 02 00", .invalidLength, 6),
            ("05 02 01 00 00 28", .truncated(missing: 14), 6),
            // Find By Type Value: no element, half an element
            ("07", .truncated(missing: 4), 1),
            ("07 10 00 1F 00 20 00 2F", .invalidLength, 5),
            // UUIDs with a length ATT does not allow
            ("08 05 00 09 00", .truncated(missing: 2), 5),
            ("08 05 00 09 00 03 28 00 00", .invalidLength, 5),
            ("10 05 00 09 00 00 28 00", .invalidLength, 5),
            // Read By Type: no element, elements without room for a handle, half an element
            ("09", .truncated(missing: 1), 1),
            ("09 03", .truncated(missing: 3), 2),
            ("09 00 05 00", .invalidLength, 1),
            ("09 01 05 00", .invalidLength, 1),
            ("09 03 05 00 AA 07 00", .invalidLength, 5),
            // Read By Group Type: the same, two handles
            ("11 06", .truncated(missing: 6), 2),
            ("11 00 01 00 05 00", .invalidLength, 1),
            ("11 03 01 00 05", .invalidLength, 1),
            ("11 06 01 00 05 00 00 18 06 00", .invalidLength, 8),
            // Read Multiple: less than two handles, half a handle
            ("0E 03 00", .truncated(missing: 2), 3),
            ("0E 03 00 05 00 07", .invalidLength, 5),
            ("20", .truncated(missing: 4), 1),
            ("20 03 00 05 00 07", .invalidLength, 5),
            // Execute Write: reserved flags
            ("18 02", .invalidValue, 1),
            // Multiple notifications: a length that runs past the end, an incomplete tuple
            ("23 03 00 FF FF", .invalidLength, 3),
            ("23 03 00 02 00 AA", .invalidLength, 3),
            ("23 03 00 01 00 AA 05", .truncated(missing: 1), 7),
            ("23", .truncated(missing: 2), 1),
        ])
    fileprivate func malformed(_ hexadecimal: String, _ reason: Reason, _ offset: Int) {
        #expect(failure(bytes(hexadecimal)) == DecodingFailure(reason, at: offset))
    }

    @Test(
        "A3: an invalid handle range decodes to nil",
        arguments: [
            ("04 00 00 05 00", false), ("04 05 00 01 00", false), ("04 00 00 00 00", false),
            ("04 01 00 01 00", true), ("04 FF FF FF FF", true),
        ])
    func ranges(_ hexadecimal: String, _ isValid: Bool) throws {
        let pdu = bytes(hexadecimal)
        guard case .findInformationRequest(let request) = try ATTMessage(decoding: pdu.span) else {
            Issue.record("not a Find Information Request")
            return
        }
        #expect((request.handles != nil) == isValid)
    }

    @Test func `iterating a hand-built list ends at an incomplete element or an invalid element length`() {
        let ragged = bytes("01 00 00 28 02 00 03")
        var information = FindInformationResponse(format: .uuid16, informationData: ragged.span).makeIterator()
        #expect(information.next()?.handle == 1)
        #expect(information.next() == nil)
        #expect(information.next() == nil)
        var groups = ReadByGroupTypeResponse(elementLength: 0, attributeDataList: ragged.span).makeIterator()
        if groups.next() != nil { Issue.record("an element of no length") }
        var values = ReadByTypeResponse(elementLength: 1, attributeDataList: ragged.span).makeIterator()
        if values.next() != nil { Issue.record("an element of no length") }
    }
}
