import BluetoothBase
import Testing

struct ByteQueueTests {
    @Test("bytes leave in the order they arrived, even if the queue is never empty")
    func order() {
        var queue = ByteQueue()
        var next: UInt8 = 0, expected: UInt8 = 0
        for _ in 0..<2000 {
            for _ in 0..<3 {
                let chunk = (0..<7).map { _ in
                    defer { next &+= 1 }
                    return next
                }
                queue.append(chunk.span)
            }
            // Leaves some each time, up to a point.
            let take = min(queue.count - 1, 21)
            queue.withBytes { bytes in
                for index in 0..<take {
                    if bytes[index] != expected { Issue.record("out of order") }
                    expected &+= 1
                }
            }
            queue.removeFirst(take)
        }
        #expect(queue.count == 1)
    }

    @Test("removing more bytes than there are empties the queue")
    func excess() {
        var queue = ByteQueue()
        queue.append(([1, 2, 3] as [UInt8]).span)
        queue.removeFirst(9)
        #expect(queue.isEmpty)
        #expect(queue.count == 0)
    }
}
