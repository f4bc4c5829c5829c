import Combine
import Foundation
import KeyValueObserving
import Testing

@Suite("What the shim adds to OpenCombine")
struct MergingTests {
    private struct Failure: Error, Equatable {}

    /// The values a subscriber received, as text.
    private final class Received {
        var lines: [String] = []

        func attach<P: Publisher>(_ publisher: P) -> AnyCancellable {
            publisher.sink(
                receiveCompletion: {
                    switch $0 {
                    case .finished: self.lines.append("finished")
                    case .failure: self.lines.append("failed")
                    }
                }, receiveValue: { self.lines.append("\($0)") })
        }
    }

    @Test("Merged publishers publish elements as they arrive, and finish with the last")
    func merge() {
        let (a, b, received) = (PassthroughSubject<Int, Failure>(), PassthroughSubject<Int, Failure>(), Received())
        let subscription = received.attach(a.merge(with: b))
        a.send(1)
        b.send(2)
        a.send(3)
        a.send(completion: .finished)
        b.send(4)
        b.send(completion: .finished)
        #expect(received.lines == ["1", "2", "3", "4", "finished"])
        subscription.cancel()
    }

    @Test("They fail with the first that does, for any number of publishers")
    func mergeMany() {
        let (subjects, received) = ((0..<5).map { _ in PassthroughSubject<Int, Failure>() }, Received())
        let subscription = received.attach(Publishers.MergeMany(subjects))
        for (index, subject) in subjects.enumerated() { subject.send(index) }
        subjects[3].send(completion: .failure(Failure()))
        subjects[1].send(9)
        #expect(received.lines == ["0", "1", "2", "3", "4", "failed"])
        subscription.cancel()
    }

    @Test("The latest elements are published together, once there is one of each")
    func combineLatest() {
        let (a, b, received) = (PassthroughSubject<Int, Never>(), CurrentValueSubject<String, Never>("x"), Received())
        let subscription = received.attach(a.combineLatest(b) { "\($0)\($1)" })
        #expect(received.lines == [])
        a.send(1)
        b.send("y")
        a.send(2)
        a.send(completion: .finished)
        b.send("z")
        b.send(completion: .finished)
        #expect(received.lines == ["1x", "1y", "2y", "2z", "finished"])
        subscription.cancel()
    }

    @Test("Of three and of four")
    func more() {
        let subjects = (0..<4).map { CurrentValueSubject<Int, Never>($0) }
        let (three, four) = (Received(), Received())
        let subscriptions = [
            three.attach(subjects[0].combineLatest(subjects[1], subjects[2]) { $0 + $1 + $2 }),
            four.attach(subjects[0].combineLatest(subjects[1], subjects[2], subjects[3]) { [$0, $1, $2, $3] }),
        ]
        subjects[2].send(10)
        subjects[3].send(7)
        #expect(three.lines == ["3", "11"])
        #expect(four.lines == ["[0, 1, 2, 3]", "[0, 1, 10, 3]", "[0, 1, 10, 7]"])
        for subscription in subscriptions { subscription.cancel() }
        subjects[0].send(5)
        #expect(three.lines.count == 2 && four.lines.count == 3)
    }

    private final class Lamp: NSObject, KeyValueObservable {
        let _observers = KeyValueObservers()
        var isOn = false {
            didSet { _observers.changed() }
        }
    }

    @Test("A property that can be observed is a publisher")
    func property() {
        let (lamp, received) = (Lamp(), Received())
        var subscription: AnyCancellable? = received.attach(lamp.publisher(for: \.isOn))
        lamp.isOn = true
        lamp.isOn = true
        lamp.isOn = false
        #expect(received.lines == ["false", "true", "false"])
        withExtendedLifetime(subscription) {}
        subscription = nil
        lamp.isOn = true
        #expect(received.lines.count == 3)
        let changes = Received()
        let other = changes.attach(lamp.publisher(for: \.isOn, options: .new).prefix(1))
        lamp.isOn = false
        lamp.isOn = true
        #expect(changes.lines == ["false", "finished"])
        other.cancel()
    }
}
