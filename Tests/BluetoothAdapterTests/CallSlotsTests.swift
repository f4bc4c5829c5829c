import BluetoothAdapter
import BluetoothUsers
import Testing

@Suite("Slots of pending calls")
struct CallSlotsTests {
    @Test("A free slot is used again, and the token of its last call finds nothing")
    func reuse() {
        var slots = CallSlots()
        let first = slots.add(), second = slots.add()
        #expect((first.slot, second.slot) == (0, 1))
        slots.remove(first.slot)
        #expect(slots.slot(of: first.token) == nil)
        let third = slots.add()
        #expect(third.slot == first.slot && third.token != first.token)
        #expect(slots.slot(of: first.token) == nil)
        #expect(slots.slot(of: second.token) == 1)
        #expect(slots.slot(of: third.token) == 0)
    }

    @Test("All free slots are used again before the table grows")
    func freeList() {
        var slots = CallSlots()
        let added = (0..<8).map { _ in slots.add().slot }
        for slot in [3, 0, 7, 4] { slots.remove(slot) }
        #expect(Set((0..<4).map { _ in slots.add().slot }) == [3, 0, 7, 4])
        #expect(slots.add().slot == added.count)
    }

    @Test("The order of the calls does not depend on their slots")
    func order() {
        var slots = CallSlots()
        for _ in 0..<4 { _ = slots.add() }
        slots.remove(1)
        slots.remove(2)
        #expect((slots.add().slot, slots.add().slot) == (2, 1))
        #expect(slots.inOrder == [0, 3, 2, 1])
    }

    @Test("Numbers that are not tokens find nothing", arguments: [0, 1, 1 << 32, 1 << 32 | 2, 2 << 32 | 1, .max])
    func foreign(number: UInt64) {
        var slots = CallSlots()
        let added = slots.add()
        #expect(slots.slot(of: CallToken(rawValue: number)) == nil)
        slots.remove(added.slot)
        #expect(slots.slot(of: CallToken(rawValue: number)) == nil)
    }
}
