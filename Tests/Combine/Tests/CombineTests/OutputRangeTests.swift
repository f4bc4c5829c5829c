import Combine
import Foundation
import Testing

@Suite("prefix and output")
struct OutputRangeTests {
    @Test(
        "Elements of the range are published, and the last one finishes the publisher",
        arguments: [
            (0..<1, [0], 1), (0..<3, [0, 1, 2], 3), (1..<3, [1, 2], 3), (2..<3, [2], 3),
        ])
    func range(_ range: Range<Int>, _ expected: [Int], _ sent: Int) {
        let (upstream, received) = (Upstream(), Received<Int>())
        upstream.output(in: range).subscribe(received)
        for value in 0..<sent { upstream.send(value) }
        #expect(received.lines == expected.map { "\($0)" } + ["finished"])
        #expect(upstream.notes.last == "cancelled")
        upstream.send(9)
        upstream.send(completion: .failure(Broken()))
        received.subscription?.cancel()
        #expect(received.lines.count == expected.count + 1)
        #expect(upstream.notes.filter { $0 == "cancelled" }.count == 1)
    }

    @Test("prefix(n), output(at:), and a publisher that finishes before the range does")
    func operators() {
        let subject = PassthroughSubject<Int, Broken>()
        let (first, second, short) = (Received<Int>(), Received<Int>(), Received<Int>())
        subject.prefix(2).subscribe(first)
        subject.output(at: 1).subscribe(second)
        subject.map { $0 * 10 }.prefix(5).subscribe(short)
        subject.send(1)
        subject.send(2)
        #expect(first.lines == ["1", "2", "finished"])
        #expect(second.lines == ["2", "finished"])
        subject.send(completion: .finished)
        #expect(short.lines == ["10", "20", "finished"])
    }

    @Test("Elements before the range use no demand, and elements in it arrive as demanded")
    func demand() {
        let (upstream, received) = (Upstream(), Received<Int>(.max(1)))
        received.more = { $0 == 2 ? .max(4) : .none }
        upstream.output(in: 1...3).subscribe(received)
        for value in [1, 2, 3, 4] { upstream.send(value) }
        #expect(upstream.notes == ["1", "+1", "+4", "cancelled"])
    }

    @Test("An element sent while the last one is being received is not published")
    func nested() {
        let (subject, received) = (PassthroughSubject<Int, Broken>(), Received<Int>())
        received.more = {
            if $0 == 1 { subject.send(2) }
            return .none
        }
        subject.prefix(1).subscribe(received)
        subject.send(1)
        #expect(received.lines == ["1", "finished"])
    }

    /// What an application writes itself has these operators, too.
    private struct Own: Publisher {
        typealias Output = Int
        typealias Failure = Broken

        func receive<Downstream: Subscriber>(subscriber: Downstream)
        where Downstream.Input == Int, Downstream.Failure == Broken {
            [1, 2, 3].publisher.setFailureType(to: Broken.self).subscribe(subscriber)
        }
    }

    private func first(of publisher: some Publisher<Int, Broken>) -> AnyPublisher<Int, Broken> {
        publisher.prefix(1).eraseToAnyPublisher()
    }

    private func sent<S: Subject>(_ subject: S) -> Publishers.OutputRange<S> { subject.prefix(1) }

    @Test("Custom publishers, generic subjects and opaque publishers have these operators")
    func own() {
        let (subject, one, two, three) = (
            PassthroughSubject<Int, Broken>(), Received<Int>(), Received<Int>(), Received<Int>()
        )
        first(of: subject).subscribe(one)
        sent(subject).subscribe(three)
        Own().output(at: 1).subscribe(two)
        subject.send(5)
        #expect(one.lines == ["5", "finished"] && three.lines == ["5", "finished"])
        #expect(two.lines == ["2", "finished"])
    }
}
