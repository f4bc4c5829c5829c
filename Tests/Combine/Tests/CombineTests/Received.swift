import Combine
import Foundation

struct Broken: Error, Equatable {}

/// What a subscriber received, as text, in order. It demands what it is told to.
final class Received<Input>: Subscriber {
    var lines: [String] = []
    /// What is demanded in addition with each element.
    var more: (Input) -> Subscribers.Demand = { _ in .none }
    private(set) var subscription: (any Subscription)?
    private let first: Subscribers.Demand

    init(_ first: Subscribers.Demand = .unlimited) { self.first = first }

    func receive(subscription: any Subscription) {
        self.subscription = subscription
        if first > .none { subscription.request(first) }
    }

    func receive(_ input: Input) -> Subscribers.Demand {
        lines.append("\(input)")
        return more(input)
    }

    func receive(completion: Subscribers.Completion<Broken>) {
        switch completion {
        case .finished: lines.append("finished")
        case .failure: lines.append("failed")
        }
    }
}

/// A subject that notes what is demanded of it, and that it is cancelled.
final class Upstream: Publisher, Subscription {
    typealias Output = Int
    typealias Failure = Broken
    private(set) var notes: [String] = []
    private var send: ((Int) -> Subscribers.Demand)?
    private var complete: ((Subscribers.Completion<Broken>) -> Void)?

    func receive<Downstream: Subscriber>(subscriber: Downstream)
    where Downstream.Input == Int, Downstream.Failure == Broken {
        send = { subscriber.receive($0) }
        complete = { subscriber.receive(completion: $0) }
        subscriber.receive(subscription: self)
    }

    func request(_ demand: Subscribers.Demand) { notes.append(demand == .unlimited ? "all" : "\(demand.max ?? 0)") }
    func cancel() { notes.append("cancelled") }

    func send(_ value: Int) { if let demand = send?(value), demand > .none { notes.append("+\(demand.max ?? 0)") } }
    func send(completion: Subscribers.Completion<Broken>) { complete?(completion) }
}

/// Runs what is scheduled when its time is advanced. One unit is a second.
final class VirtualScheduler: Scheduler {
    struct Time: Strideable {
        struct Stride: SchedulerTimeIntervalConvertible, Comparable, SignedNumeric {
            var units: Int
            var magnitude: Int { Swift.abs(units) }

            init(_ units: Int) { self.units = units }
            init(integerLiteral value: Int) { units = value }
            init?<Source: BinaryInteger>(exactly source: Source) { units = Int(source) }

            static func seconds(_ s: Int) -> Stride { .init(s) }
            static func seconds(_ s: Double) -> Stride { .init(Int(s)) }
            static func milliseconds(_ ms: Int) -> Stride { .init(ms / 1000) }
            static func microseconds(_ us: Int) -> Stride { .init(us / 1_000_000) }
            static func nanoseconds(_ ns: Int) -> Stride { .init(ns / 1_000_000_000) }
            static func < (lhs: Stride, rhs: Stride) -> Bool { lhs.units < rhs.units }
            static func + (lhs: Stride, rhs: Stride) -> Stride { .init(lhs.units + rhs.units) }
            static func - (lhs: Stride, rhs: Stride) -> Stride { .init(lhs.units - rhs.units) }
            static func * (lhs: Stride, rhs: Stride) -> Stride { .init(lhs.units * rhs.units) }
            static func *= (lhs: inout Stride, rhs: Stride) { lhs = lhs * rhs }
        }

        var units: Int

        func distance(to other: Time) -> Stride { .init(other.units - units) }
        func advanced(by stride: Stride) -> Time { .init(units: units + stride.units) }
    }

    private struct Job {
        let number: Int
        var time: Time
        let interval: Time.Stride?
        let action: () -> Void
    }

    private(set) var now = Time(units: 0)
    let minimumTolerance = Time.Stride(0)
    private var jobs: [Job] = []
    private var count = 0

    /// How much is scheduled.
    var pending: Int { jobs.count }

    private func add(_ time: Time, _ interval: Time.Stride?, _ action: @escaping () -> Void) -> Int {
        count += 1
        jobs.append(Job(number: count, time: time, interval: interval, action: action))
        return count
    }

    func schedule(options: Never?, _ action: @escaping () -> Void) { _ = add(now, nil, action) }

    func schedule(after date: Time, tolerance: Time.Stride, options: Never?, _ action: @escaping () -> Void) {
        _ = add(date, nil, action)
    }

    func schedule(
        after date: Time, interval: Time.Stride, tolerance: Time.Stride, options: Never?,
        _ action: @escaping () -> Void
    ) -> any Cancellable {
        let number = add(date, interval, action)
        return AnyCancellable { self.jobs.removeAll { $0.number == number } }
    }

    func advance(by seconds: Int) {
        let end = now.advanced(by: .init(seconds))
        while let index = jobs.indices.filter({ jobs[$0].time <= end }).min(by: {
            (jobs[$0].time, jobs[$0].number) < (jobs[$1].time, jobs[$1].number)
        }) {
            let job = jobs.remove(at: index)
            now = Swift.max(now, job.time)
            if let interval = job.interval {
                jobs.append(
                    Job(
                        number: job.number, time: job.time.advanced(by: interval), interval: interval,
                        action: job.action))
            }
            job.action()
        }
        now = end
    }
}
