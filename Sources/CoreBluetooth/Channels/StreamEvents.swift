import Foundation
import Synchronization

/// Delivers the events of a channel's stream to its delegate, on a run loop that the stream is scheduled on.
///
/// A timer delivers the events: on Linux, a run loop wakes up when another thread adds a timer, or changes its fire
/// date. Each place has one, because a new timer for each event would cost 1,000 instructions more.
final class StreamEvents: Sendable {
    /// Whether the stream is ready for reading or writing, and whether it is at its end. It may be called with the
    /// lock held, so it must not use this object.
    private let readiness: @Sendable () -> (isReady: Bool, isAtEnd: Bool)
    private let readyEvent: Stream.Event
    private let state = Guarded(wrappedValue: State())
    /// The raw value of the status: not open, open or closed. Outside of the state, because each read and write checks
    /// it.
    private let currentStatus = Atomic(Stream.Status.notOpen.rawValue)

    private struct State {
        weak var stream: Stream?
        /// Each with its timer, which also keeps a run loop without other sources from ending.
        var places: [(loop: RunLoop, mode: RunLoop.Mode, timer: Timer)] = []
        var delivery = Delivery.idle
        /// The number of calls of the delegate in progress. A delegate that runs its loop is called again before it
        /// returns.
        var depth = 0
        var hasToldOpening = false
        var hasToldEnd = false
    }

    /// A timer that must fire at once.
    private enum Alarm {
        case again(Timer)
        /// A new one.
        case once(RunLoop, RunLoop.Mode)
    }

    /// How far an event has got on its way to the delegate.
    private enum Delivery {
        case idle
        /// A timer is about to fire.
        case due
        /// The delegate is being called.
        ///
        /// - Parameter hasUsed: whether it has read or written.
        case telling(hasUsed: Bool)
    }

    private static let never: TimeInterval = 86_400

    init(_ readyEvent: Stream.Event, _ readiness: @escaping @Sendable () -> (isReady: Bool, isAtEnd: Bool)) {
        self.readyEvent = readyEvent
        self.readiness = readiness
    }

    deinit { for place in state.wrappedValue.places { place.timer.invalidate() } }

    func belong(to stream: Stream) { state.withLock { $0.stream = stream } }

    // MARK: - Status and scheduling

    var isOpen: Bool { currentStatus.load(ordering: .acquiring) == Stream.Status.open.rawValue }

    var status: Stream.Status {
        if isOpen, readiness().isAtEnd { return .atEnd }
        return Stream.Status(rawValue: currentStatus.load(ordering: .acquiring)) ?? .closed
    }

    func open() {
        let (notOpen, open) = (Stream.Status.notOpen.rawValue, Stream.Status.open.rawValue)
        _ = currentStatus.compareExchange(expected: notOpen, desired: open, ordering: .acquiringAndReleasing)
        changed()
    }

    func close() {
        currentStatus.store(Stream.Status.closed.rawValue, ordering: .releasing)
        let places = state.withLock { state in
            defer { state.places = [] }
            return state.places
        }
        for place in places { place.timer.invalidate() }
    }

    func schedule(in loop: RunLoop, forMode mode: RunLoop.Mode) {
        let timer = Timer(timeInterval: Self.never, repeats: true) { [weak self] _ in self?.tell() }
        loop.add(timer, forMode: mode)
        // The first place delivers. If it was removed while its timer was about to fire, this one takes over.
        let next = state.withLock { state -> Alarm? in
            state.places.append((loop, mode, timer))
            return state.places.count == 1 ? schedule(&state) : nil
        }
        fire(next)
    }

    func remove(from loop: RunLoop, forMode mode: RunLoop.Mode) {
        let (gone, next) = state.withLock { state in
            let gone = state.places.filter { $0.loop === loop && $0.mode == mode }
            state.places.removeAll { $0.loop === loop && $0.mode == mode }
            return (gone, gone.isEmpty ? nil : schedule(&state))
        }
        for place in gone { place.timer.invalidate() }
        fire(next)
    }

    // MARK: - Delivery

    /// Prepares the next delivery. Returns what must fire; nil if nothing must. Call with the lock held.
    private func schedule(_ state: inout State) -> Alarm? {
        guard isOpen, !state.hasToldEnd, let place = state.places.first else { return nil }
        state.delivery = .due
        // A timer does not fire while it is firing.
        return state.depth == 0 ? .again(place.timer) : .once(place.loop, place.mode)
    }

    /// Schedules the delivery of an event, if one may be due.
    func changed() {
        let alarm = state.withLock { state -> Alarm? in
            if case .due = state.delivery { nil } else { schedule(&state) }
        }
        fire(alarm)
    }

    /// Schedules the next event after the application has read or written, if the stream is still ready.
    func used() {
        let alarm = state.withLock { state -> Alarm? in
            switch state.delivery {
            case .due: return nil
            case .idle: return schedule(&state)
            case .telling:
                // The delegate may use the stream until it is no longer ready, so this waits until it returns.
                state.delivery = .telling(hasUsed: true)
                return nil
            }
        }
        fire(alarm)
    }

    @inline(__always)
    private func fire(_ alarm: Alarm?) { if let alarm { fire(alarm) } }

    private func fire(_ alarm: Alarm) {
        switch alarm {
        case .again(let timer): timer.fireDate = .distantPast
        case .once(let loop, let mode):
            loop.add(Timer(timeInterval: 0, repeats: false) { [weak self] _ in self?.tell() }, forMode: mode)
        }
    }

    /// Delivers the next event that is due to the delegate.
    private func tell() {
        let (event, stream) = state.withLock { state -> (Stream.Event?, Stream?) in
            // A new timer fires once without having been asked to.
            guard case .due = state.delivery else { return (nil, nil) }
            // Only now: a change after this schedules the next event.
            let event = nextEvent(&state)
            if event == nil {
                state.delivery = .idle
            } else {
                state.delivery = .telling(hasUsed: false)
                state.depth += 1
            }
            return (event, state.stream)
        }
        guard let event else { return }
        if let stream { stream.delegate?.stream(stream, handle: event) }
        let alarm = state.withLock { state -> Alarm? in
            state.depth -= 1
            // Something else may have changed, or the delegate was called again in the meantime.
            guard case .telling(let hasUsed) = state.delivery else { return nil }
            state.delivery = .idle
            let (isReady, isAtEnd) = readiness()
            return (hasUsed || event == .openCompleted) && (isReady || isAtEnd) ? schedule(&state) : nil
        }
        fire(alarm)
    }

    private func nextEvent(_ state: inout State) -> Stream.Event? {
        guard isOpen, !state.hasToldEnd else { return nil }
        if !state.hasToldOpening {
            state.hasToldOpening = true
            return .openCompleted
        }
        let (isReady, isAtEnd) = readiness()
        if isReady { return readyEvent }
        state.hasToldEnd = isAtEnd
        return isAtEnd ? .endEncountered : nil
    }
}
