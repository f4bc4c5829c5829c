import Testing

@testable import HCITransport

struct PendingBytesTests {
    @Test("bytes leave in the order they arrived, even if the queue is never empty")
    func order() {
        var pending = PendingBytes()
        var next: UInt8 = 0, expected: UInt8 = 0
        for _ in 0..<2000 {
            for _ in 0..<3 {
                let chunk = (0..<7).map { _ in
                    defer { next &+= 1 }
                    return next
                }
                pending.append(chunk.span)
            }
            // Leaves some each time, up to a point.
            let take = min(pending.count - 1, 21)
            pending.withBytes { bytes in
                for index in 0..<take {
                    if bytes[index] != expected { Issue.record("out of order") }
                    expected &+= 1
                }
            }
            pending.removeFirst(take)
        }
        #expect(pending.count == 1)
    }

    @Test("removing more bytes than there are empties the queue")
    func excess() {
        var pending = PendingBytes()
        pending.append(([1, 2, 3] as [UInt8]).span)
        pending.removeFirst(9)
        #expect(pending.isEmpty)
        #expect(pending.count == 0)
    }
}
