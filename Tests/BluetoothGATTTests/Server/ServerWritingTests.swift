import BluetoothATT
import BluetoothBase
import TestSupport
import Testing

@testable import BluetoothGATT

@Suite("GATT server: writing")
struct ServerWritingTests {
    struct Row: CustomTestStringConvertible, Sendable {
        var name: String
        var handle: AttributeHandle
        var value: String
        var error: UInt8?
        var stored: String?
        var testDescription: String { name }

        /// A request that reads the value back, where it can be read.
        var readRequest: [UInt8]? {
            handle == 0x000E
                ? nil
                : written {
                    $0.append(ATTOpcode.readRequest.rawValue)
                    $0.append(handle)
                }
        }
    }

    static let rows = [
        Row(
            name: "GATT/SR/GAW/BV-03: a value of fixed length", handle: 0x000B, value: "09 08 07 06",
            stored: "09 08 07 06"),
        Row(name: "the front of a value of fixed length", handle: 0x000B, value: "09 08", stored: "09 08 03 04"),
        Row(name: "nothing of a value of fixed length", handle: 0x000B, value: "", stored: "01 02 03 04"),
        Row(
            name: "A11, GATT/SR/GAW/BI-32: too long for a fixed length", handle: 0x000B, value: "01 02 03 04 05",
            error: 0x0D, stored: "01 02 03 04"),
        Row(name: "a value of variable length grows", handle: 0x000E, value: "01 02 03", stored: "01 02 03"),
        Row(name: "a value of variable length shrinks", handle: 0x0012, value: "AA", stored: "AA"),
        Row(
            name: "too long for a variable length", handle: 0x000E, value: "01 02 03 04 05 06 07 08 09", error: 0x0D,
            stored: ""),
        Row(name: "GATT/SR/GAW/BI-02: no such handle", handle: 0x0019, value: "01", error: 0x01),
        Row(
            name: "GATT/SR/GAW/BI-03: not writable", handle: 0x0003, value: "41", error: 0x03,
            stored: "54 68 69 6E 67"),
        Row(name: "declarations are not writable", handle: 0x0006, value: "00 18", error: 0x03, stored: "0D 18"),
    ]

    @Test("Write Requests are answered", arguments: rows)
    func request(_ row: Row) {
        var bench = ServerBench(.example())
        let pdu = written {
            $0.append(ATTOpcode.writeRequest.rawValue)
            $0.append(row.handle)
            $0.append(bytes(row.value))
        }
        if let error = row.error {
            let response = written {
                $0.append([0x01, 0x12])
                $0.append(row.handle)
                $0.append(error)
            }
            #expect(bench.send(pdu) == response.hexadecimal())
            let code = ATTErrorCode(rawValue: error)
            #expect(bench.outcome == .refused(ATTError(code, for: .writeRequest, at: row.handle)))
        } else {
            #expect(bench.send(pdu) == "13")
            #expect(bench.outcome == .valueWritten(handle: row.handle, value: 3..<pdu.count))
            if let request = row.readRequest, let stored = row.stored { #expect(bench.send(request) == "0B " + stored) }
        }
        #expect(bench.server.database.value(of: row.handle)?.hexadecimal() == row.stored)
    }

    @Test("GATT/SR/GAW/BV-01: Write Commands have the same effect without a response", arguments: rows)
    func command(_ row: Row) {
        var bench = ServerBench(.example())
        let pdu = written {
            $0.append(ATTOpcode.writeCommand.rawValue)
            $0.append(row.handle)
            $0.append(bytes(row.value))
        }
        #expect(bench.send(pdu) == "")
        if let error = row.error {
            #expect(bench.outcome == .dropped(.refused(ATTErrorCode(rawValue: error))))
        } else {
            #expect(bench.outcome == .valueWritten(handle: row.handle, value: 3..<pdu.count))
            if let request = row.readRequest, let stored = row.stored { #expect(bench.send(request) == "0B " + stored) }
        }
        #expect(bench.server.database.value(of: row.handle)?.hexadecimal() == row.stored)
    }

    @Test("A16, GATT/SR/GAW/BI-01: a signed write to a value that does not accept signed writes is ignored")
    func signed() {
        var bench = ServerBench(.example())
        #expect(bench.send("D2 0B 00 09 01 00 00 00 01 02 03 04 05 06 07 08") == "")
        #expect(bench.outcome == .dropped(.refused(.writeNotPermitted)))
        #expect(bench.server.database.value(of: 0x000B) == [1, 2, 3, 4])
    }

    @Test(
        "GATT/SR/GAW/BI-36, BI-37, BI-38: a signed write over BR/EDR, or over an enhanced bearer, is ignored",
        arguments: [ATTBearer(brEDRChannelMTU: 672), ATTBearer(channelMTU: 672)])
    func signedElsewhere(_ bearer: ATTBearer) throws {
        var database = GATTDatabase()
        let value = try database.add(
            .init(
                uuid: .init(1),
                characteristics: [
                    .init(uuid: .init(2), properties: [.read, .authenticatedSignedWrites], value: .variableLength([1]))
                ])
        ).characteristics[0].value
        var bench = ServerBench(database)
        bench.bearer = bearer
        let handle = [UInt8(value.rawValue & 0xFF), UInt8(value.rawValue >> 8)]
        #expect(bench.send([0xD2] + handle + [9] + Array(0..<12)) == "")
        #expect(bench.outcome == .dropped(.signatureUnneeded))
        #expect(bench.send([0x0A] + handle) == "0B 01")
    }

    @Test("A value that accepts only signed writes cannot be written otherwise over an open link")
    func signedOnly() throws {
        var database = GATTDatabase()
        let handles = try database.add(
            .init(
                uuid: .init(1),
                characteristics: [
                    .init(uuid: .init(2), properties: .authenticatedSignedWrites, value: .variableLength([1]))
                ]))
        let value = handles.characteristics[0].value
        var bench = ServerBench(database)
        let handle = [UInt8(value.rawValue & 0xFF), UInt8(value.rawValue >> 8)]
        #expect(bench.send([0x12] + handle + [9]) == ([0x01, 0x12] + handle + [0x05]).hexadecimal())
        #expect(bench.send([0x52] + handle + [9]) == "")
        #expect(bench.outcome == .dropped(.refused(.insufficientAuthentication)))
        #expect(bench.send([0xD2] + handle + [9] + Array(0..<12)) == "")
        #expect(bench.outcome == .signedWriteReceived(handle: value, value: 3..<4))
        #expect(bench.server.database.value(of: value) == [1])
    }

    @Test("a constant never changes, whatever its permissions")
    func constant() throws {
        var database = GATTDatabase()
        _ = try database.add(
            .init(
                uuid: .init(1),
                characteristics: [.init(uuid: .init(2), properties: [.read, .write], value: .constant([1]))]))
        var bench = ServerBench(database)
        #expect(bench.send("12 03 00 02") == "01 12 03 00 03")
        #expect(bench.send("0A 03 00") == "0B 01")
    }
}
