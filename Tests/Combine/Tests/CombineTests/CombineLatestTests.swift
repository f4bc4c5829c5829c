import Combine
import Foundation
import Testing

@Suite("CombineLatest and Zip")
struct CombineLatestTests {
    @Test("CombineLatest publishes the latest elements once every publisher has sent one")
    func combineLatest() {
        let (a, b, received) = (
            PassthroughSubject<Int, Broken>(), CurrentValueSubject<String, Broken>("x"), Received<String>()
        )
        a.combineLatest(b) { "\($0)\($1)" }.subscribe(received)
        #expect(received.lines == [])
        a.send(1)
        b.send("y")
        a.send(2)
        a.send(completion: .finished)
        b.send("z")
        b.send(completion: .finished)
        #expect(received.lines == ["1x", "1y", "2y", "2z", "finished"])
    }

    @Test("A nil element counts as an element")
    func optional() {
        let (a, b, received) = (
            PassthroughSubject<Int?, Broken>(), PassthroughSubject<Int?, Broken>(), Received<(Int?, Int?)>()
        )
        a.combineLatest(b).subscribe(received)
        a.send(nil)
        b.send(2)
        b.send(nil)
        #expect(received.lines == ["(nil, Optional(2))", "(nil, nil)"])
    }

    @Test("Demand goes to every publisher, and elements beyond the demand are not published")
    func demand() {
        let (a, b, received) = (Upstream(), Upstream(), Received<(Int, Int)>(.max(2)))
        received.more = { $0.0 == 2 ? .max(3) : .none }
        Publishers.CombineLatest(a, b).subscribe(received)
        a.send(1)
        b.send(10)
        a.send(2)
        b.send(20)
        b.send(30)
        #expect(received.lines == ["(1, 10)", "(2, 10)", "(2, 20)", "(2, 30)"])
        #expect(a.notes.prefix(2) == ["2", "+3"] && b.notes.prefix(2) == ["2", "3"])
        received.more = { _ in .none }
        for value in [3, 4, 5, 6, 7, 8, 9, 10, 11, 12] { a.send(value) }
        let count = received.lines.count
        a.send(99)
        #expect(received.lines.count == count)
        received.subscription?.request(.max(1))
        #expect(received.lines.count == count)
        b.send(40)
        #expect(received.lines.last == "(99, 40)")
    }

    @Test("CombineLatest fails with the first failure, and publishes nothing after it is cancelled")
    func ends() {
        let (a, b, failed, cancelled) = (Upstream(), Upstream(), Received<(Int, Int)>(), Received<(Int, Int)>())
        a.combineLatest(b).subscribe(failed)
        a.send(1)
        b.send(completion: .failure(Broken()))
        a.send(2)
        #expect(failed.lines == ["failed"])
        #expect(a.notes == ["all", "cancelled"] && b.notes == ["all"])
        let (c, d) = (Upstream(), Upstream())
        c.combineLatest(d).subscribe(cancelled)
        c.send(1)
        cancelled.subscription?.cancel()
        d.send(2)
        d.send(completion: .finished)
        c.send(completion: .finished)
        #expect(cancelled.lines == [])
        #expect(c.notes == ["all", "cancelled"] && d.notes == ["all", "cancelled"])
    }

    @Test("CombineLatest of three and four publishers")
    func more() {
        let s = (0..<4).map { CurrentValueSubject<Int, Broken>($0) }
        let (three, four) = (Received<(Int, Int, Int)>(), Received<[Int]>())
        s[0].combineLatest(s[1], s[2]).subscribe(three)
        s[0].combineLatest(s[1], s[2], s[3]) { [$0, $1, $2, $3] }.subscribe(four)
        s[2].send(10)
        s[3].send(7)
        #expect(three.lines == ["(0, 1, 2)", "(0, 1, 10)"])
        #expect(four.lines == ["[0, 1, 2, 3]", "[0, 1, 10, 3]", "[0, 1, 10, 7]"])
        let spelled: Publishers.CombineLatest4 = Publishers.CombineLatest4(s[0], s[1], s[2], s[3])
        #expect(spelled.d === s[3])
    }

    @Test("Zip pairs elements in order, and finishes when no further pair is possible")
    func zip() {
        let s = (0..<4).map { _ in PassthroughSubject<Int, Broken>() }
        let (two, three, four) = (Received<(Int, Int)>(), Received<(Int, Int, Int)>(), Received<(Int, Int, Int, Int)>())
        s[0].zip(s[1]).subscribe(two)
        Publishers.Zip3(s[0], s[1], s[2]).subscribe(three)
        s[0].zip(s[1], s[2], s[3]).subscribe(four)
        for round in 1...2 { for subject in s { subject.send(round) } }
        s[0].send(completion: .finished)
        #expect(two.lines == ["(1, 1)", "(2, 2)", "finished"])
        #expect(three.lines == ["(1, 1, 1)", "(2, 2, 2)", "finished"])
        #expect(four.lines == ["(1, 1, 1, 1)", "(2, 2, 2, 2)", "finished"])
    }
}
