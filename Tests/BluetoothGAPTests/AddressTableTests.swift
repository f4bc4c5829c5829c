import BluetoothBase
import Testing

@testable import BluetoothGAP

struct AddressTableTests {
    /// The table against the simplest equivalent: an array, the oldest first.
    @Test(arguments: 0..<50 as Range<UInt64>)
    func `the table behaves like a list in order of last touch`(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let capacity = Int.random(in: 1...12, using: &generator)
        var table = AddressTable<Int>(capacity: capacity)
        var model: [(address: DeviceAddress, value: Int)] = []
        for step in 0..<400 {
            let address = DeviceAddress(.random(in: 0..<20, using: &generator), kind: .random)
            let known = model.firstIndex { $0.address == address }
            #expect((table.slot(of: address) != nil) == (known != nil))
            switch (Int.random(in: 0..<4, using: &generator), table.slot(of: address), known) {
            case (0, let slot?, let index?):
                table.remove(slot)
                model.remove(at: index)
            case (1, let slot?, let index?):
                table[slot] = step
                model[index].value = step
            case (_, let slot?, let index?):
                table.touch(slot)
                model.append(model.remove(at: index))
            default:
                _ = table.insert(step, for: address)
                if model.count == capacity { model.removeFirst() }
                model.append((address, step))
            }
            #expect(table.newestFirst.map { table[$0] } == model.reversed().map(\.value))
            #expect(table.count == model.count)
            #expect(table.oldest.map { table[$0] } == model.first?.value)
        }
    }

    @Test func `addresses with the same value but different kinds are different keys`() {
        var table = AddressTable<Int>(capacity: 4)
        let slot = table.insert(1, for: DeviceAddress(7, kind: .random))
        #expect(table.slot(of: DeviceAddress(7, kind: .random)) == slot)
        #expect(table.slot(of: DeviceAddress(7, kind: .public)) == nil)
    }

    @Test(arguments: [(-1, 1), (0, 1), (1, 1), (7, 7)])
    func `the capacity is at least one`(_ asked: Int, _ expected: Int) {
        var table = AddressTable<Int>(capacity: asked)
        for value in 0..<20 { _ = table.insert(value, for: DeviceAddress(UInt64(value), kind: .random)) }
        #expect(table.count == expected)
    }

    @Test func `after removing everything the table is empty`() {
        var table = AddressTable<Int>(capacity: 4)
        for value in 0..<4 { _ = table.insert(value, for: DeviceAddress(UInt64(value), kind: .random)) }
        table.removeAll()
        #expect(table.count == 0)
        #expect(table.oldest == nil && table.newest == nil)
        #expect(table.slot(of: DeviceAddress(1, kind: .random)) == nil)
    }

    @Test func `every address is found while the table grows, and after half of it has been removed`() {
        let count = 70_000 as UInt64
        var table = AddressTable<UInt64>(capacity: Int(count))
        for value in 0..<count {
            let address = DeviceAddress(value << 16, kind: .random)
            #expect(table.slot(of: address) == nil)
            _ = table.insert(value, for: address)
        }
        for value in stride(from: 0, to: count, by: 2) {
            if let slot = table.slot(of: DeviceAddress(value << 16, kind: .random)) { table.remove(slot) }
        }
        #expect(table.count == Int(count / 2))
        for value in 0..<count {
            let slot = table.slot(of: DeviceAddress(value << 16, kind: .random))
            #expect(slot.map { table[$0] } == (value.isMultiple(of: 2) ? nil : value))
        }
    }
}
