import BluetoothBase
import Testing

@testable import VirtualRadio

@Suite("ACL buffers")
struct ACLBufferPoolTests {
    @Test("Two queues share the buffers, and each returns its own bytes in order", arguments: [1, 2, 3] as [UInt64])
    func model(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var pool = ACLBufferPool(count: 4, length: 10)
        var queues = [ACLQueue(), ACLQueue()]
        var model: [[[UInt8]]] = [[], []]
        for _ in 0..<5000 {
            let index = Int.random(in: 0...1, using: &generator)
            if Bool.random(using: &generator) {
                let data = (0..<Int.random(in: 1...11, using: &generator)).map { _ in
                    UInt8.random(in: 0...255, using: &generator)
                }
                let fits = data.count <= 10 && model[0].count + model[1].count < 4
                #expect(pool.append(data.span, isContinuation: false, to: &queues[index]) == fits)
                if fits { model[index].append(data) }
            } else {
                #expect(pool.remaining(in: queues[index]) == model[index].first?.count ?? 0)
                guard let first = model[index].first else { continue }
                let count = Int.random(in: 1...first.count, using: &generator)
                var writer = ByteWriter()
                pool.copyFirst(count, of: queues[index], into: &writer)
                #expect(writer.bytes == Array(first.prefix(count)))
                #expect(pool.consume(count, of: &queues[index]) == (count == first.count))
                if count == first.count { model[index].removeFirst() } else { model[index][0].removeFirst(count) }
            }
            #expect(queues[index].isEmpty == model[index].isEmpty)
        }
    }

    @Test("Everything after the first piece of a buffer is a continuation")
    func continuation() {
        var pool = ACLBufferPool(count: 2, length: 10)
        var queue = ACLQueue()
        #expect(pool.append([1, 2].span, isContinuation: false, to: &queue))
        #expect(pool.append([3].span, isContinuation: true, to: &queue))
        #expect(!pool.isContinuation(in: queue))
        _ = pool.consume(1, of: &queue)
        #expect(pool.isContinuation(in: queue))
        _ = pool.consume(1, of: &queue)
        #expect(pool.isContinuation(in: queue))
        pool.removeAll(of: &queue)
        #expect(queue.isEmpty && !pool.isContinuation(in: queue))
    }

    @Test("A pool without buffers accepts nothing")
    func none() {
        var pool = ACLBufferPool(count: 0, length: 0)
        var queue = ACLQueue()
        #expect(!pool.append([1].span, isContinuation: false, to: &queue))
        #expect(!pool.consume(1, of: &queue) && pool.remaining(in: queue) == 0)
    }
}
