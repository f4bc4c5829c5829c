import BluetoothBase
import Testing

@testable import VirtualRadio

@Suite("Schedule")
struct ScheduleTests {
    @Test("Timers fire in the order of their deadlines, and in the order of their numbers if the deadlines are equal")
    func order() {
        var schedule = Schedule()
        for (timer, due) in [(3, 20), (1, 10), (2, 30), (0, 20), (4, 10)] as [(Int, UInt64)] {
            schedule.set(AirTimer(rawValue: timer), to: Instant(nanoseconds: due))
        }
        schedule.set(AirTimer(rawValue: 2), to: Instant(nanoseconds: 5))
        schedule.set(AirTimer(rawValue: 4), to: nil)
        schedule.set(AirTimer(rawValue: 9), to: nil)
        #expect(schedule.nextDeadline == Instant(nanoseconds: 5))
        var order: [Int] = []
        while let next = schedule.popFirst(at: Instant(nanoseconds: 20)) { order.append(next.timer.rawValue) }
        #expect(order == [2, 1, 0, 3])
        #expect(schedule.nextDeadline == nil)
    }

    @Test("Nothing fires before it is due")
    func notBefore() {
        var schedule = Schedule()
        schedule.set(AirTimer(.link, of: 7), to: Instant(nanoseconds: 10))
        #expect(schedule.popFirst(at: Instant(nanoseconds: 9)) == nil)
        let next = schedule.popFirst(at: Instant(nanoseconds: 11))
        #expect(next?.timer == AirTimer(.link, of: 7) && next?.due == Instant(nanoseconds: 10))
        #expect(next?.timer.concern == .link && next?.timer.index == 7)
    }

    @Test("Any sequence of changes gives the same result as a plain list", arguments: [1, 2, 3] as [UInt64])
    func model(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var schedule = Schedule()
        var model: [Int: UInt64] = [:]
        for _ in 0..<5000 {
            let timer = Int.random(in: 0..<40, using: &generator)
            switch Int.random(in: 0..<4, using: &generator) {
            case 0:
                schedule.set(AirTimer(rawValue: timer), to: nil)
                model[timer] = nil
            case 1:
                let first = model.min { ($0.value, $0.key) < ($1.value, $1.key) }
                let popped = schedule.popFirst(at: Instant(nanoseconds: .max))
                #expect(popped?.timer.rawValue == first?.key && popped?.due.nanoseconds == first?.value)
                if let first { model[first.key] = nil }
            default:
                let due = UInt64.random(in: 0..<100, using: &generator)
                schedule.set(AirTimer(rawValue: timer), to: Instant(nanoseconds: due))
                model[timer] = due
            }
            #expect(schedule.nextDeadline?.nanoseconds == model.values.min())
        }
    }
}
