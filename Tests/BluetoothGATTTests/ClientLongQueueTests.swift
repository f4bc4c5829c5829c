import BluetoothATT
import BluetoothBase
import TestSupport
import Testing

@testable import BluetoothGATT

@Suite("GATT client: many operations")
struct ClientLongQueueTests {
    @Test("4,096 operations wait behind the current one, and one more is rejected")
    func bound() throws {
        var client = GATTClient(), bearer = ATTBearer(), writer = ByteWriter()
        let read = { (handle: Int) in GATTClientOperation.read(AttributeHandle(UInt16(handle))) }
        for handle in 0...4096 { _ = try client.start(read(handle), bearer: &bearer, at: .zero, into: &writer) }
        #expect(client.pendingCount == 4097)
        #expect(throws: GATTClientError.tooManyOperations) {
            try client.start(read(4097), bearer: &bearer, at: .zero, into: &writer)
        }
        let response: [UInt8] = [0x0B]
        for handle in 1...4096 {
            writer.removeAll()
            client.receive(response.span, bearer: &bearer, at: .zero, into: &writer)
            #expect(writer.bytes == [0x0A, UInt8(handle & 0xFF), UInt8(handle >> 8)])
        }
        client.receive(response.span, bearer: &bearer, at: .zero, into: &writer)
        #expect(client.pendingCount == 0)
        #expect(client.events.count == 4097)
    }

    @Test(
        "the queue keeps the order of the calls, whichever operations are removed",
        arguments: 1...20 as ClosedRange<UInt64>)
    func model(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var queue = OperationQueue()
        var expected: [(id: GATTClient.OperationID, operation: GATTClientOperation)] = []
        var gone: [GATTClient.OperationID] = []
        for number in 1...2000 as ClosedRange<UInt32> {
            switch Int.random(in: 0..<5, using: &random) {
            case 0...2:
                let operation = GATTClientOperation.read(AttributeHandle(UInt16(number)))
                let id = queue.append(operation, on: .first, number: number)
                #expect(!expected.contains { $0.id == id } && !gone.contains(id))
                expected.append((id, operation))
            case 3:
                let next = queue.popFirst()
                #expect(next?.id == expected.first?.id && next?.operation == expected.first?.operation)
                if !expected.isEmpty { gone.append(expected.removeFirst().id) }
            default:
                guard let place = expected.indices.randomElement(using: &random) else { continue }
                let removed = queue.remove(expected[place].id)
                #expect(removed == expected[place].operation)
                gone.append(expected.remove(at: place).id)
            }
            if let stale = gone.randomElement(using: &random) {
                let removed = queue.remove(stale)
                #expect(removed == nil)
            }
            #expect(queue.count == expected.count && queue.isEmpty == expected.isEmpty)
        }
        while let next = queue.popFirst() { #expect(next.id == expected.removeFirst().id) }
        #expect(expected.isEmpty)
    }
}
