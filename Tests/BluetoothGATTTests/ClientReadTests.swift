import BluetoothATT
import BluetoothBase
import BluetoothGATT
import TestSupport
import Testing

@Suite("GATT client: reading")
struct ClientReadTests {
    @Test(
        "GATT/CL/GAR/BV-01, BV-06: a value or descriptor is read by its handle",
        arguments: ["", "01", "00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F 10 11 12 13 14 15"])
    func read(value: String) throws {
        let result = try run(.read(0x0003), [("0A 03 00", "0B " + value)])
        #expect(result == .success(.value(bytes(value))))
    }

    @Test(
        "GATT/CL/GAR/BI-01 and others: the server's error is reported to the caller",
        arguments: [0x01, 0x02, 0x05, 0x08, 0x0C, 0x0F, 0x12, 0x80, 0xFF] as [UInt8])
    func refused(code: UInt8) throws {
        let result = try run(.read(0x0003), [("0A 03 00", "01 0A 03 00 " + hexadecimal(code))])
        let error = ATTError(requestOpcode: 0x0A, handle: 3, code: ATTErrorCode(rawValue: code))
        #expect(result == .failure(.att(error)))
    }

    @Test(
        "GATT/CL/GAR/BV-04, BV-07: a long value is read part by part until one is short",
        arguments: [0, 21, 22, 44, 50])
    func readLong(length: Int) throws {
        let value = counting(length)
        var script: [Exchange] = []
        var offset = 0
        repeat {
            let part = value[min(offset, length)..<min(offset + 22, length)].hexadecimal()
            let request = offset == 0 ? "0A 03 00" : "0C 03 00 \(hexadecimal(offset)) 00"
            script.append((request, (offset == 0 ? "0B " : "0D ") + part))
            offset += 22
        } while offset <= length
        #expect(try run(.readLong(0x0003), script) == .success(.value(value)))
    }

    @Test("Attribute Not Long or Invalid Offset after a full response ends the value", arguments: ["0B", "07"])
    func notLong(code: String) throws {
        let value = counting(22)
        let result = try run(
            .readLong(0x0003),
            [("0A 03 00", "0B " + value.hexadecimal()), ("0C 03 00 16 00", "01 0C 03 00 " + code)])
        #expect(result == .success(.value(value)))
    }

    @Test("any other error in the middle of a long value fails the whole read, and nothing truncated is delivered")
    func failsHalfway() throws {
        let result = try run(
            .readLong(0x0003),
            [("0A 03 00", "0B " + counting(22).hexadecimal()), ("0C 03 00 16 00", "01 0C 03 00 0E")])
        #expect(result == .failure(.att(ATTError(.unlikelyError, for: .readBlobRequest, at: 3))))
    }

    @Test("a long read may start at an offset; Invalid Offset is then an error")
    func readFromOffset() throws {
        #expect(
            try run(.readLong(0x0003, offset: 30), [("0C 03 00 1E 00", "0D 01 02")])
                == .success(.value([1, 2])))
        #expect(
            try run(.readLong(0x0003, offset: 30), [("0C 03 00 1E 00", "01 0C 03 00 07")])
                == .failure(.att(ATTError(.invalidOffset, for: .readBlobRequest, at: 3))))
    }

    @Test("a long read from an offset continues after the part it received")
    func readOnFromOffset() throws {
        let part = counting(22)
        let script: [Exchange] = [
            ("0C 03 00 1E 00", "0D " + part.hexadecimal()), ("0C 03 00 34 00", "0D 01 02"),
        ]
        #expect(try run(.readLong(0x0003, offset: 30), script) == .success(.value(part + [1, 2])))
    }

    @Test("512 octets is the longest value: no request follows it, and a longer value is an error")
    func longest() throws {
        let value = counting(512)
        let first = value.prefix(256).hexadecimal(), second = value.suffix(256).hexadecimal()
        let whole = try run(
            .readLong(0x0003), [("0A 03 00", "0B " + first), ("0C 03 00 00 01", "0D " + second)], mtu: 257)
        #expect(whole == .success(.value(value)))
        let tooLong = try run(.readLong(0x0003), [("0A 03 00", "0B " + counting(513).hexadecimal())], mtu: 517)
        #expect(tooLong == .failure(.invalidResponse(.invalidValueLength(513))))
    }

    @Test("an MTU raised while a request is in flight does not make a full response look short")
    func mtuRaised() throws {
        var harness = ClientHarness()
        _ = try harness.start(.readLong(0x0003))
        harness.bearer.exchangeMTU(clientRxMTU: 100, serverRxMTU: 100)
        #expect(harness.receive([0x0B] + counting(22)) == bytes("0C 03 00 16 00"))
    }

    @Test(
        "GATT/CL/GAR/BV-03: values are read by type, with UUIDs of either length, to the end of the range",
        arguments: [(BluetoothUUID(0x2A19), "19 2A"), (ClientDiscoveryTests.vendor, ClientDiscoveryTests.vendorBytes)])
    func readByUUID(uuid: BluetoothUUID, encoded: String) throws {
        let result = try run(
            .readByUUID(uuid, in: 0x0002...0x0040),
            [
                ("08 02 00 40 00 " + encoded, "09 03 03 00 64 10 00 32"),
                ("08 11 00 40 00 " + encoded, "09 04 20 00 01 02"),
                ("08 21 00 40 00 " + encoded, "01 08 21 00 0A"),
            ])
        #expect(
            result
                == .success(
                    .values([
                        AttributeValue(handle: 3, value: [0x64]), AttributeValue(handle: 0x10, value: [0x32]),
                        AttributeValue(handle: 0x20, value: [1, 2]),
                    ])))
    }

    @Test("an unreadable value does not discard the values before it", arguments: ["02", "05", "0F", "0E"])
    func readByUUIDRefusedLate(code: String) throws {
        let result = try run(
            .readByUUID("2A19"),
            [("08 01 00 FF FF 19 2A", "09 03 03 00 64"), ("08 04 00 FF FF 19 2A", "01 08 10 00 " + code)])
        #expect(result == .success(.values([AttributeValue(handle: 3, value: [0x64])])))
    }

    @Test("GATT/CL/GAR/BI-07: if no value of the type exists, the server's error is reported")
    func readByUUIDNotFound() throws {
        let result = try run(.readByUUID("2A19"), [("08 01 00 FF FF 19 2A", "01 08 01 00 0A")])
        #expect(result == .failure(.att(ATTError(.attributeNotFound, for: .readByTypeRequest, at: 1))))
    }

    @Test("GATT/CL/GAR/BV-05: several values of known lengths are read")
    func readMultiple() throws {
        let result = try run(.readMultiple([3, 5, 3]), [("0E 03 00 05 00 03 00", "0F 01 02 03")])
        #expect(result == .success(.value([1, 2, 3])))
    }

    @Test("GATT/CL/GAR/BV-08: several values of variable lengths are read; a truncated one is omitted")
    func readMultipleVariable() throws {
        let whole: [Exchange] = [("20 03 00 05 00 07 00", "21 00 00 02 00 AA BB 03 00 01 02 03")]
        #expect(
            try run(.readMultipleVariable([3, 5, 7]), whole)
                == .success(
                    .values([
                        AttributeValue(handle: 3, value: []), AttributeValue(handle: 5, value: [0xAA, 0xBB]),
                        AttributeValue(handle: 7, value: [1, 2, 3]),
                    ])))
        let script: [Exchange] = [("20 03 00 05 00 07 00", "21 00 00 02 00 AA BB 03 00 01 02")]
        #expect(
            try run(.readMultipleVariable([3, 5, 7]), script)
                == .success(
                    .values([AttributeValue(handle: 3, value: []), AttributeValue(handle: 5, value: [0xAA, 0xBB])])))
    }

    @Test("more values than were requested are an error")
    func tooManyValues() throws {
        let result = try run(
            .readMultipleVariable([3, 5]), [("20 03 00 05 00", "21 00 00 00 00 01 00 AA")])
        #expect(result == .failure(.invalidResponse(.invalidValueLength(1))))
    }

    @Test("an invalid number of handles fails without a request", arguments: [0, 1, 12])
    func handleCount(count: Int) throws {
        let handles = (0..<count).map { AttributeHandle(UInt16($0 + 1)) }
        #expect(try run(.readMultiple(handles), []) == .failure(.invalidHandleCount(allowed: 2...11)))
        #expect(try run(.readMultipleVariable(handles), []) == .failure(.invalidHandleCount(allowed: 2...11)))
    }
}
