import BluetoothATT
import BluetoothBase
import TestSupport
import Testing

@testable import BluetoothGATT

@Suite("GATT server: random input")
struct ServerRandomInputTests {
    static let seeds: [[UInt8]] = [
        "02 40 00", "04 01 00 FF FF", "06 01 00 FF FF 00 28 0D 18", "08 01 00 FF FF 03 28", "08 01 00 FF FF 38 2A",
        "0A 12 00", "0A 14 00", "0C 12 00 16 00", "0C 14 00 01 00", "0E 0B 00 14 00 05 00", "10 01 00 FF FF 00 28",
        "12 0B 00 01 02", "12 09 00 01 00", "12 14 00 01", "16 12 00 00 00 61 62", "16 14 00 00 00 61", "18 01",
        "18 00", "20 14 00 12 00", "52 0E 00 01 02", "1E", "D2 0B 00 00 00 00 00 00 00 00 00 00 00 00 00",
    ].map { bytes($0) }

    @Test("100,000 mutated PDUs trap nothing, and every response follows the protocol", arguments: [1, 2] as [UInt64])
    func mutations(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var bench = ServerBench(.example())
        var answered = 0
        for _ in 0..<50_000 {
            if bench.transaction.pending != nil, random.next() % 2 == 0 {
                try checkAnswer(&bench, &random)
                continue
            }
            var pdu = Self.seeds[Int(random.next() % UInt64(Self.seeds.count))]
            mutate(&pdu, &random)
            let isPending = bench.transaction.pending != nil
            let mtu = bench.bearer.mtu
            let response = bytes(bench.send(pdu))
            #expect(response.count <= mtu)
            guard let opcode = pdu.first else { continue }
            let isRequest = ATTOpcode.Kind(ofOpcode: opcode) == .request
            if isRequest, !isPending, bench.token == nil {
                // Exactly one answer: the response to this request, or an error that names it.
                answered += 1
                let expected = ATTOpcode(rawValue: opcode)?.response?.rawValue
                #expect(response.first == expected || (response.first == 0x01 && response[1] == opcode))
            } else {
                #expect(response.isEmpty)
            }
            #expect(bench.endpoint.servedClient.preparedWrites.count <= 64)
            #expect(bench.endpoint.servedClient.subscriptions.count <= 1)
        }
        #expect(answered > 10_000, "the mutations leave requests to answer")
        #expect(bench.server.database.value(of: 0x0003) == Array("Thing".utf8))
        #expect((bench.server.database.value(of: 0x000E)?.count ?? 9) <= 8)
        #expect(bench.server.database.value(of: 0x000B)?.count == 4)
    }

    private func checkAnswer(_ bench: inout ServerBench, _ random: inout SeededGenerator) throws {
        let token = try #require(bench.transaction.pending?.token)
        let response: String
        switch random.next() % 4 {
        case 0: response = try bench.refuse(token, .unlikelyError)
        case 1:
            bench.now = bench.now.advanced(by: .seconds(25))
            response = bench.fire()
        default:
            do {
                response = try bench.answer(token, String(repeating: "AA", count: Int(random.next() % 513)))
            } catch GATTServerError.wrongAnswer {
                response = try bench.accept(token)
            }
        }
        #expect(bytes(response).count <= bench.bearer.mtu)
        #expect(response.isEmpty == (bench.token != nil))
    }

    private func mutate(_ pdu: inout [UInt8], _ random: inout SeededGenerator) {
        for _ in 0..<random.next() % 4 {
            let value = UInt8(truncatingIfNeeded: random.next())
            let position = Int(random.next() % UInt64(pdu.count + 1))
            switch random.next() % 5 {
            case 0: pdu.insert(value, at: position)
            case 1 where position < pdu.count: pdu.remove(at: position)
            case 2 where position < pdu.count: pdu[position] = value % 0x24
            case 3: pdu.append(contentsOf: repeatElement(value, count: Int(random.next() % 40)))
            default: if position < pdu.count { pdu[position] = value }
            }
        }
    }
}
