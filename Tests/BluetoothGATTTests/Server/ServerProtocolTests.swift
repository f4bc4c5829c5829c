import BluetoothATT
import BluetoothBase
import TestSupport
import Testing

@testable import BluetoothGATT

@Suite("GATT server: protocol rules")
struct ServerProtocolTests {
    static let requests = [
        "02 40 00", "04 01 00 FF FF", "06 01 00 FF FF 00 28 00 18", "08 01 00 FF FF 03 28", "0A 03 00",
        "0C 03 00 01 00", "0E 03 00 05 00", "10 01 00 FF FF 00 28", "12 0B 00 01", "16 0B 00 00 00 01", "18 01",
        "20 03 00 05 00",
    ]

    @Test(
        "A2: a truncated request is answered with Invalid PDU", arguments: requests)
    func truncated(_ request: String) {
        let whole = bytes(request)
        // Up to the value at the end, which may have any length.
        let fixed = [0x06: 7, 0x12: 3, 0x16: 5][whole[0], default: whole.count]
        for count in 1..<fixed {
            var bench = ServerBench(.example())
            #expect(bench.send(Array(whole.prefix(count))) == [0x01, whole[0], 0, 0, 0x04].hexadecimal())
        }
        var bench = ServerBench(.example())
        #expect(!bench.send(whole).isEmpty)
        #expect(bench.transaction.droppedPDUCount == 0)
    }

    @Test(
        "A2: a request with extra octets is answered with Invalid PDU",
        arguments: [
            "02 40 00 00", "04 01 00 FF FF 00", "08 01 00 FF FF 03 28 00", "0A 03 00 00", "0C 03 00 01 00 00",
            "0E 03 00 05 00 00", "0E 03 00", "10 01 00 FF FF 00 28 00", "10 01 00 FF FF 00 28 00 00", "18 01 00",
            "20 03 00 05 00 00", "20 03 00",
        ])
    func tooLong(_ request: String) {
        var bench = ServerBench(.example())
        #expect(bench.send(request) == [0x01, bytes(request)[0], 0, 0, 0x04].hexadecimal())
    }

    @Test("a PDU longer than the ATT_MTU is rejected")
    func longerThanMTU() {
        var bench = ServerBench(.example())
        let value = [UInt8](repeating: 1, count: 21)
        #expect(bench.send([0x12, 0x12, 0x00] + value) == "01 12 00 00 04")
        #expect(bench.send([0x52, 0x12, 0x00] + value) == "")
        #expect(bench.outcome == .dropped(.tooLong))
        #expect(bench.server.database.value(of: 0x0012)?.count == 40)
    }

    @Test("A5, GATT/SR/UNS/BI-01, BI-02: each of the 256 opcodes is answered or ignored, according to its kind")
    func opcodes() {
        for opcode in UInt8.min...UInt8.max {
            var bench = ServerBench(.example())
            let response = bench.send([opcode])
            switch (ATTOpcode(rawValue: opcode), ATTOpcode.Kind(ofOpcode: opcode)) {
            case (nil, .request):
                #expect(response == [0x01, opcode, 0, 0, 0x06].hexadecimal())
                // Whatever its parameters are, with room for a signature or not.
                for count in [1, 12, 22] {
                    let parameters = counting(count, from: Int(opcode))
                    #expect(bench.send([opcode] + parameters) == [0x01, opcode, 0, 0, 0x06].hexadecimal())
                }
            case (_, .request): #expect(response == [0x01, opcode, 0, 0, 0x04].hexadecimal())
            case (nil, _):
                #expect(response == "")
                #expect(bench.outcome == .dropped(.unknownCommand))
                for count in [1, 12, 22] {
                    #expect(bench.send([opcode] + counting(count, from: Int(opcode))) == "")
                    #expect(bench.outcome == .dropped(.unknownCommand))
                }
                #expect(bench.send("0A 0B 00") == "0B 01 02 03 04", "the bearer goes on")
            case (_, .command):
                #expect(response == "")
                #expect(bench.outcome == .dropped(.malformed))
            case (_, .confirmation):
                #expect(response == "")
                #expect(bench.outcome == .dropped(.unexpectedConfirmation))
            case (_, .response), (_, .notification), (_, .indication):
                #expect(response == "")
                #expect(bench.outcome == .dropped(.notForServer))
            }
        }
    }

    @Test("an empty PDU is ignored")
    func empty() {
        var bench = ServerBench(.example())
        #expect(bench.send([]) == "")
        #expect(bench.outcome == .dropped(.malformed))
        #expect(bench.transaction.droppedPDUCount == 1)
    }

    @Test("GATT/SR/GAC/BV-01: the smaller of the two MTUs applies, from the response on")
    func mtu() {
        var bench = ServerBench(.example())
        #expect(bench.send("02 1E 00") == "03 05 02")
        #expect(bench.outcome == .mtuExchanged(30))
        #expect(bench.send("0A 12 00").count == 30 * 3 - 1)
        #expect(bench.send("02 00 01") == "03 05 02", "A1: the second exchange is answered and changes nothing")
        #expect(bench.outcome == .none)
        #expect(bench.bearer.mtu == 30)
        bench = ServerBench(.example())
        #expect(bench.send("02 FF FF") == "03 05 02")
        #expect(bench.outcome == .mtuExchanged(517))
    }

    @Test(
        "GATT/SR/GAC/BV-01: a long value is read up to the exchanged MTU, whether smallest or largest",
        arguments: [("17 00", 22), ("00 02", 511)])
    func exchangedMTU(mtu: String, count: Int) throws {
        var bench = ServerBench(.example())
        try bench.server.database.setValue(counting(512), of: 0x0012)
        #expect(bench.send("02 " + mtu) == "03 05 02")
        #expect(bench.outcome == .mtuExchanged(count + 1))
        #expect(bench.send("0A 12 00") == "0B " + counting(count).hexadecimal())
    }

    @Test("A1: an MTU below 23 counts as 23, and an enhanced bearer exchanges no MTU")
    func badMTU() {
        var bench = ServerBench(.example())
        #expect(bench.send("02 05 00") == "03 05 02")
        #expect(bench.bearer.mtu == 23)
        bench.bearer = ATTBearer(channelMTU: 64)
        #expect(bench.send("02 40 00") == "01 02 00 00 06")
        #expect(bench.bearer.mtu == 64)
    }

    @Test(
        "GAC/BI-02 and BI-03: over BR/EDR no MTU is exchanged either, and the channel's MTU applies",
        arguments: [ATTBearer(brEDRChannelMTU: 672), ATTBearer(channelMTU: 672)])
    func exchangeOverBREDR(_ bearer: ATTBearer) {
        var bench = ServerBench(.example())
        bench.bearer = bearer
        #expect(bench.send("02 17 00") == "01 02 00 00 06")
        #expect(bench.outcome == .refused(ATTError(requestOpcode: 0x02, handle: 0, code: .requestNotSupported)))
        #expect(bench.bearer.mtu == 672)
        #expect(bench.send("D2 03 00 AA 01 00 00 00 11 12 13 14 15 16 17 18") == "")
        #expect(bench.outcome == .dropped(.signatureUnneeded))
    }

    @Test("the outcome names the error that was sent")
    func refused() {
        var bench = ServerBench(.example())
        _ = bench.send("0A 0E 00")
        #expect(bench.outcome == .refused(ATTError(.readNotPermitted, for: .readRequest, at: 0x000E)))
        _ = bench.send("BF 00")
        #expect(bench.outcome == .refused(ATTError(requestOpcode: 0xBF, handle: 0, code: .requestNotSupported)))
    }
}
