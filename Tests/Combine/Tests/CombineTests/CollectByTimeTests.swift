import Combine
import Foundation
import Testing

@Suite("collect by time")
struct CollectByTimeTests {
    private let scheduler = VirtualScheduler()

    private func collect(
        _ strategy: (VirtualScheduler) -> Publishers.TimeGroupingStrategy<VirtualScheduler>,
        _ demand: Subscribers.Demand = .unlimited
    ) -> (Upstream, Received<[Int]>) {
        let (upstream, received) = (Upstream(), Received<[Int]>(demand))
        upstream.collect(strategy(scheduler)).subscribe(received)
        return (upstream, received)
    }

    @Test("Elements are collected per interval; an empty one publishes nothing, and the end publishes the rest")
    func byTime() {
        let (upstream, received) = collect { .byTime($0, 2) }
        upstream.send(1)
        scheduler.advance(by: 1)
        upstream.send(2)
        #expect(received.lines == [])
        scheduler.advance(by: 1)
        #expect(received.lines == ["[1, 2]"])
        scheduler.advance(by: 4)
        upstream.send(3)
        upstream.send(completion: .finished)
        #expect(received.lines == ["[1, 2]"])
        scheduler.advance(by: 0)
        #expect(received.lines == ["[1, 2]", "[3]", "finished"])
        #expect(scheduler.pending == 0)
        #expect(upstream.notes == ["1", "+1", "+1", "+1"])
    }

    @Test("A failure drops the elements collected so far")
    func failure() {
        let (upstream, received) = collect { .byTime($0, 2) }
        upstream.send(1)
        upstream.send(completion: .failure(Broken()))
        scheduler.advance(by: 5)
        #expect(received.lines == ["failed"])
        #expect(scheduler.pending == 0)
    }

    @Test("byTimeOrCount publishes when the interval ends or the array is full")
    func byTimeOrCount() {
        let (upstream, received) = collect { .byTimeOrCount($0, 2, 2) }
        for value in 1...3 { upstream.send(value) }
        #expect(received.lines == ["[1, 2]"])
        scheduler.advance(by: 2)
        for value in 4...8 { upstream.send(value) }
        scheduler.advance(by: 2)
        upstream.send(completion: .finished)
        scheduler.advance(by: 0)
        #expect(received.lines == ["[1, 2]", "[3]", "[4, 5]", "[6, 7]", "[8]", "finished"])
    }

    @Test("Demand for an array becomes demand for as many elements as it can hold")
    func demand() {
        let (upstream, received) = collect({ .byTimeOrCount($0, 2, 2) }, .max(2))
        received.more = { $0.contains(1) ? .max(1) : .none }
        for value in 1...4 { upstream.send(value) }
        #expect(upstream.notes == ["4", "+2"])
        for value in 5...8 { upstream.send(value) }
        #expect(received.lines == ["[1, 2]", "[3, 4]", "[5, 6]"])
        received.subscription?.request(.max(1))
        #expect(upstream.notes.last == "2")
    }

    @Test("Cancelling removes the timer")
    func cancel() {
        let (upstream, received) = collect { .byTime($0, 2) }
        upstream.send(1)
        received.subscription?.cancel()
        scheduler.advance(by: 5)
        upstream.send(completion: .finished)
        scheduler.advance(by: 5)
        #expect(received.lines == [] && scheduler.pending == 0)
        #expect(upstream.notes.last == "cancelled")
    }
}
