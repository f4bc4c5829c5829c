import Foundation

/// Delivers the events of a channel's stream to its delegate, on a run loop that the stream is scheduled on.
///
/// A timer delivers the events: on Linux, a run loop wakes up when another thread changes when a timer fires. There is
/// one for each place, because a new one for each event would cost 1,000 instructions more.
final class StreamEvents: @unchecked Sendable {
    // Unchecked: mutable state is behind `lock`.

    /// Whether the stream is ready for reading or writing, and whether it is at its end. Called with the lock held.
    private let readiness: @Sendable () -> (isReady: Bool, isAtEnd: Bool)
    private let readyEvent: Stream.Event
    private let lock = NSLock()
    private var state = State()

    private struct State {
        weak var stream: Stream?
        var status = Stream.Status.notOpen
        /// Each with its timer, which also keeps a run loop without other sources from ending.
        var places: [(loop: RunLoop, mode: RunLoop.Mode, timer: Timer)] = []
        /// Whether an event is on its way to the delegate.
        var isTelling = false
        var hasToldOpening = false
        var hasToldEnd = false
    }

    private static let never: TimeInterval = 86_400

    init(_ readyEvent: Stream.Event, _ readiness: @escaping @Sendable () -> (isReady: Bool, isAtEnd: Bool)) {
        self.readyEvent = readyEvent
        self.readiness = readiness
    }

    deinit { for place in state.places { place.timer.invalidate() } }

    func belong(to stream: Stream) { lock.withLock { state.stream = stream } }

    // MARK: - Status and scheduling

    var isOpen: Bool { lock.withLock { state.status == .open } }

    var status: Stream.Status {
        let isAtEnd = readiness().isAtEnd
        return lock.withLock { state.status == .open && isAtEnd ? .atEnd : state.status }
    }

    func open() {
        lock.withLock { if state.status == .notOpen { state.status = .open } }
        changed()
    }

    func close() {
        let places = lock.withLock {
            state.status = .closed
            defer { state.places = [] }
            return state.places
        }
        for place in places { place.timer.invalidate() }
    }

    func schedule(in loop: RunLoop, forMode mode: RunLoop.Mode) {
        let timer = Timer(timeInterval: Self.never, repeats: true) { [weak self] _ in self?.tell() }
        loop.add(timer, forMode: mode)
        lock.withLock { state.places.append((loop, mode, timer)) }
        changed()
    }

    func remove(from loop: RunLoop, forMode mode: RunLoop.Mode) {
        let gone = lock.withLock {
            defer { state.places.removeAll { $0.loop === loop && $0.mode == mode } }
            return state.places.filter { $0.loop === loop && $0.mode == mode }
        }
        for place in gone { place.timer.invalidate() }
    }

    // MARK: - Delivery

    /// Schedules the delivery of an event, if one may be due.
    func changed() {
        let timer = lock.withLock { () -> Timer? in
            guard state.status == .open, !state.isTelling, !state.hasToldEnd, let place = state.places.first else {
                return nil
            }
            state.isTelling = true
            return place.timer
        }
        // It fires at once.
        timer?.fireDate = .distantPast
    }

    /// Delivers the next event that is due to the delegate.
    private func tell() {
        let (event, stream) = lock.withLock { () -> (Stream.Event?, Stream?) in
            // Only now: a change after this schedules the next event.
            let (isReady, isAtEnd) = readiness()
            state.isTelling = false
            guard state.status == .open, !state.hasToldEnd else { return (nil, nil) }
            if !state.hasToldOpening {
                state.hasToldOpening = true
                return (.openCompleted, state.stream)
            }
            if isReady { return (readyEvent, state.stream) }
            guard isAtEnd else { return (nil, nil) }
            state.hasToldEnd = true
            return (.endEncountered, state.stream)
        }
        guard let event, let stream else { return }
        stream.delegate?.stream(stream, handle: event)
        // Readiness is reported again after each use of the stream, and when there is more.
        if event == .openCompleted { changed() }
    }
}
