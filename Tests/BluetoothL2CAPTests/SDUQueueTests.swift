import BluetoothBase
import Testing

@testable import BluetoothL2CAP

@Suite("SDUs that wait on a channel")
struct SDUQueueTests {
    private var queue = SDUQueue()

    private func octets(at index: Int) -> [UInt8] { queue.withPacket(at: index) { $0.withUnsafeBytes { Array($0) } } }

    @Test("The queue keeps the order of SDUs as it grows and shrinks")
    mutating func order() {
        var added = 0, removed = 0
        for waiting in [1, 3, 2, 9, 4, 33, 0] {
            while added - removed < waiting {
                queue.append([UInt8](repeating: UInt8(added), count: added % 4 + 1))
                added += 1
            }
            while added - removed > waiting {
                #expect(queue.firstLength == removed % 4 + 1)
                queue.removeFirst()
                removed += 1
            }
            #expect(queue.count == waiting && queue.isEmpty == (waiting == 0))
            for index in 0..<waiting {
                let number = removed + index
                #expect(octets(at: index) == [UInt8](repeating: UInt8(number), count: number % 4 + 1))
            }
        }
    }

    @Test("The queue does not copy an SDU, and releases it when it is removed")
    mutating func memory() {
        let sdu: [UInt8] = [1, 2, 3]
        queue.append(sdu)
        let place = sdu.withUnsafeBytes { $0.baseAddress }
        let stored = queue.withFirst { sdu in sdu.withUnsafeBytes { $0.baseAddress } }
        #expect(stored == place)
        queue.removeFirst()
        let isReleased = queue.ring.allSatisfy(\.octets.isEmpty)
        #expect(isReleased)
        queue.removeFirst()
        #expect(queue.isEmpty)
    }
}
