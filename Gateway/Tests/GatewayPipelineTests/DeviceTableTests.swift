import BluetoothBase
import Testing
@testable import GatewayPipeline

/// The records of a pipeline's devices, and the queues that devices wait in.
@Suite struct DeviceTableTests {
    private func address(_ number: UInt64) -> DeviceAddress { DeviceAddress(number, kind: .public) }

    private func device(_ number: UInt64) -> Device {
        Device(Reception([], from: address(number), at: 0), bucket: TokenBucket(rate: 1, burst: 1))
    }

    @Test("Slots leave a queue in the order in which they were appended, no matter which others were removed")
    func queue() {
        var queue = SlotQueue<String>()
        for slot in [5, 0, 3, 7] { queue.append(slot, "a\(slot)") }
        // A slot that is in the queue keeps its place and its value.
        queue.append(0, "b0")
        #expect(queue.count == 4)
        #expect([0, 1, 100].map { queue[$0] } == ["a0", nil, nil])
        // One in the middle, one that is gone, the last one, and one that never was in it.
        for slot in [3, 3, 7, 100] { queue.remove(slot) }
        queue.append(3, "b3")
        var values: [String] = []
        while let (slot, value) = queue.first {
            values.append(value)
            queue.remove(slot)
        }
        #expect(values == ["a5", "a0", "b3"])
        #expect(queue.count == 0)
        queue.append(7, "c7")
        #expect(queue.first?.slot == 7)
    }

    @Test("A removed device leaves both queues, and the next device in its slot is in neither")
    func removal() {
        var table = DeviceTable(capacity: 2)
        let first = table.insert(address(1), device(1))
        let second = table.insert(address(2), device(2))
        for (slot, end) in [(first, 10.0), (second, 11)] {
            table.wait(slot)
            table.openWindow(slot, until: .at(end))
        }
        #expect(table.firstWindow?.slot == first)
        table.remove(first)
        #expect(table.count == 1)
        #expect(table.waitingCount == 1)
        #expect(table.firstWindow?.slot == second)
        #expect(table.firstWindow?.end == .at(11))
        let third = table.insert(address(3), device(3))
        #expect(third == first)
        #expect(!table.isWaiting(third))
        #expect(!table.hasWindow(third))
        #expect(table.takeWaiting() == second)
        #expect(table.takeWaiting() == nil)
    }

    @Test("The table and its queues stay within the capacity, no matter how many devices arrive and wait")
    func bound() {
        var table = DeviceTable(capacity: 4)
        for number in 1...1000 as ClosedRange<UInt64> {
            if table.isFull, let oldest = table.oldestSlot { table.remove(oldest) }
            let slot = table.insert(address(number), device(number))
            table.wait(slot)
            table.openWindow(slot, until: .at(Double(number)))
            #expect(table.count <= 4)
            #expect(table.waitingCount == table.count)
        }
        var open: [DeviceAddress] = []
        while let slot = table.firstWindow?.slot {
            open.append(table.identity(at: slot))
            table.closeWindow(slot)
        }
        #expect(open == (997...1000).map(address))
    }
}
