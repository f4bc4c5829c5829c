import Combine
import Foundation
import Testing

@Suite("Merge")
struct MergeTests {
    @Test("Merge publishes elements as they arrive, and finishes with the last publisher")
    func merge() {
        let (a, b, received) = (Upstream(), Upstream(), Received<Int>())
        a.merge(with: b).subscribe(received)
        a.send(1)
        b.send(2)
        a.send(3)
        a.send(completion: .finished)
        b.send(4)
        #expect(received.lines == ["1", "2", "3", "4"])
        b.send(completion: .finished)
        #expect(received.lines.last == "finished")
        #expect(a.notes.first == "all" && b.notes.first == "all")
    }

    @Test("Merge fails with the first failure, and cancels the other publishers")
    func failure() {
        let (upstreams, received) = ((0..<5).map { _ in Upstream() }, Received<Int>())
        Publishers.MergeMany(upstreams).subscribe(received)
        for (index, upstream) in upstreams.enumerated() { upstream.send(index) }
        upstreams[0].send(completion: .finished)
        upstreams[3].send(completion: .failure(Broken()))
        upstreams[1].send(9)
        upstreams[1].send(completion: .finished)
        #expect(received.lines == ["0", "1", "2", "3", "4", "failed"])
        #expect(upstreams.map { $0.notes.contains("cancelled") } == [false, true, true, false, true])
    }

    @Test("Merge holds one element per publisher until it is demanded, and finishes after it")
    func demand() {
        let (a, b, received) = (Upstream(), Upstream(), Received<Int>(.max(1)))
        received.more = { $0 == 3 ? .max(1) : .none }
        a.merge(with: b).subscribe(received)
        a.send(1)
        a.send(2)
        b.send(3)
        #expect(received.lines == ["1"])
        a.send(completion: .finished)
        b.send(completion: .finished)
        #expect(received.lines == ["1"])
        received.subscription?.request(.max(1))
        #expect(received.lines == ["1", "2"])
        received.subscription?.request(.max(1))
        #expect(received.lines == ["1", "2", "3", "finished"])
        #expect(a.notes == ["1", "+1", "1"] && b.notes == ["1", "1"])
    }

    @Test("A later request for unlimited demand is passed on")
    func unlimitedLater() {
        let (a, b, received) = (Upstream(), Upstream(), Received<Int>(.none))
        a.merge(with: b).subscribe(received)
        a.send(1)
        received.subscription?.request(.unlimited)
        #expect(received.lines == ["1"])
        #expect(a.notes == ["1", "1", "all"] && b.notes == ["1", "all"])
    }

    @Test("Merge publishes nothing after it is cancelled")
    func cancel() {
        let (a, b, received) = (Upstream(), Upstream(), Received<Int>())
        a.merge(with: b).subscribe(received)
        a.send(1)
        received.subscription?.cancel()
        received.subscription?.cancel()
        a.send(2)
        b.send(completion: .failure(Broken()))
        #expect(received.lines == ["1"])
        #expect(a.notes == ["all", "+1", "cancelled"] || a.notes == ["all", "cancelled"])
        #expect(b.notes == ["all", "cancelled"])
    }

    @Test("A publisher that finishes immediately, no publishers, and an element sent from within another")
    func edges() {
        let empty = Received<Int>()
        Publishers.MergeMany([Upstream]()).subscribe(empty)
        #expect(empty.lines == ["finished"])
        let (subject, some) = (PassthroughSubject<Int, Broken>(), Received<Int>())
        some.more = {
            if $0 < 3 { subject.send($0 + 1) }
            return .none
        }
        Just(0).setFailureType(to: Broken.self).merge(with: subject, Empty()).subscribe(some)
        subject.send(1)
        subject.send(completion: .finished)
        #expect(some.lines == ["0", "1", "2", "3", "finished"])
    }

    @Test("Merge of two to eight publishers")
    func counts() {
        let s = (0..<8).map { _ in PassthroughSubject<Int, Broken>() }
        let publishers: [AnyPublisher<Int, Broken>] = [
            s[0].merge(with: s[1].first()).eraseToAnyPublisher(),
            s[0].merge(with: s[1], s[2]).eraseToAnyPublisher(),
            s[0].merge(with: s[1], s[2], s[3]).eraseToAnyPublisher(),
            s[0].merge(with: s[1], s[2], s[3], s[4]).eraseToAnyPublisher(),
            s[0].merge(with: s[1], s[2], s[3], s[4], s[5]).eraseToAnyPublisher(),
            s[0].merge(with: s[1], s[2], s[3], s[4], s[5], s[6]).eraseToAnyPublisher(),
            Publishers.Merge8(s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7]).eraseToAnyPublisher(),
        ]
        let all = publishers.map { publisher in
            let received = Received<Int>()
            publisher.subscribe(received)
            return received
        }
        for (index, subject) in s.enumerated() { subject.send(index) }
        for subject in s { subject.send(completion: .finished) }
        for (index, received) in all.enumerated() {
            #expect(received.lines == (0..<index + 2).map { "\($0)" } + ["finished"])
        }
    }
}
