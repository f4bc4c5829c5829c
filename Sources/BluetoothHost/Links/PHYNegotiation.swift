import BluetoothBase
import BluetoothHCI

/// The PHYs of a link, and the requests to change them. One request at a time is pending at the controller, and one
/// more may wait until it has ended.
struct PHYNegotiation: StateMachine {
    enum Event: Sendable {
        /// The host itself prefers these PHYs.
        case preferred(LEPHYs)
        /// The controller has answered LE Set PHY with Command Status.
        case commandAnswered(HCIStatus)
        /// LE PHY Update Complete, which either side may have caused.
        case updateCompleted(HCIStatus, LinkPHYs)
        case timePassed
    }

    private struct Wish: Hashable, Sendable {
        /// The application's request; nil if the host itself wants the change.
        var request: RequestIdentifier?
        var phys: LEPHYs
        var options = LEPHYOptions.noPreference

        /// The report of the result, if the application is waiting for it.
        func ended(_ error: HostError?) -> [LinkEffect] {
            guard let request else { return [] }
            return [.report(error.map { .requestFailed(request, $0) } ?? .requestCompleted(request))]
        }
    }

    private enum Phase: Hashable, Sendable {
        case idle
        /// The controller is processing the wish. The host waits until the deadline at most.
        case running(Wish, deadline: Instant)
        /// Another wish waits until the running one has ended.
        case queued(Wish, behind: Wish, deadline: Instant)
    }

    private var phase = Phase.idle
    /// The current PHYs.
    private(set) var phys = LinkPHYs()

    /// The procedure response timeout of the link layer (Core 5.4, Vol 6, Part B, 5.2).
    static let timeout = Duration.seconds(40)

    /// The time at which to pass `.timePassed` to the state machine.
    var deadline: Instant? {
        switch phase {
        case .idle: nil
        case .running(_, let deadline), .queued(_, _, let deadline): deadline
        }
    }

    /// The pending requests.
    var requests: [RequestIdentifier] {
        switch phase {
        case .idle: []
        case .running(let wish, _): [wish.request].compactMap { $0 }
        case .queued(let next, let running, _): [running.request, next.request].compactMap { $0 }
        }
    }

    // MARK: Events

    /// Handles the application's request for PHYs.
    ///
    /// - Throws: `.busy` while another request is pending.
    mutating func ask(
        for phys: LEPHYs, _ options: LEPHYOptions, _ request: RequestIdentifier, _ context: LinkContext
    ) throws(HostError) -> [LinkEffect] {
        let wish = Wish(request: request, phys: phys, options: options)
        switch phase {
        case .idle: return begin(wish, context)
        case .running(let own, let deadline) where own.request == nil:
            phase = .queued(wish, behind: own, deadline: deadline)
            return []
        case .running, .queued: throw .busy
        }
    }

    mutating func handle(_ event: Event, _ context: LinkContext) -> [LinkEffect] {
        switch event {
        case .preferred(let phys): return prefer(phys, context)
        case .commandAnswered(.success): return []
        case .commandAnswered(let status): return end(.controller(status), context)
        case .updateCompleted(.success, let phys): return changed(to: phys, context) + end(nil, context)
        case .updateCompleted(let status, _): return end(.controller(status), context)
        case .timePassed:
            guard let deadline, deadline <= context.now else { return [] }
            return end(.timedOut, context)
        }
    }

    private mutating func prefer(_ phys: LEPHYs, _ context: LinkContext) -> [LinkEffect] {
        let wish = Wish(phys: phys)
        switch phase {
        case .idle: return begin(wish, context)
        case .running(let running, let deadline): phase = .queued(wish, behind: running, deadline: deadline)
        case .queued: break
        }
        return []
    }

    private mutating func changed(to phys: LinkPHYs, _ context: LinkContext) -> [LinkEffect] {
        guard self.phys != phys else { return [] }
        self.phys = phys
        // A link that has not been reported yet will be reported with the new PHYs.
        return context.isAnnounced ? [.report(.phyChanged(phys))] : []
    }

    private mutating func begin(_ wish: Wish, _ context: LinkContext) -> [LinkEffect] {
        guard context.canSendCommand else {
            phase = .idle
            return wish.ended(.busy)
        }
        phase = .running(wish, deadline: context.now.advanced(by: Self.timeout))
        let command = LESetPHY(
            connectionHandle: context.handle, transmit: wish.phys, receive: wish.phys, options: wish.options)
        return [.send(command, for: .setPHY(context.link))]
    }

    /// Ends the wish that the controller was processing.
    private mutating func end(_ error: HostError?, _ context: LinkContext) -> [LinkEffect] {
        switch phase {
        case .idle: return []
        case .running(let wish, _):
            phase = .idle
            return wish.ended(error)
        case .queued(let next, let wish, _): return wish.ended(error) + begin(next, context)
        }
    }
}

// MARK: - Transitions

extension PHYNegotiation {
    enum PhaseName: String, CaseIterable, Sendable { case idle, running, queued }
    enum EventName: String, CaseIterable, Sendable {
        case asked, preferred, commandAnswered, updateCompleted, timePassed
    }

    var phaseName: PhaseName {
        switch phase {
        case .idle: .idle
        case .running: .running
        case .queued: .queued
        }
    }

    static let transitions: [Transition<Self>] = [
        Transition(.idle, .asked, .running),
        // The command queue is full.
        Transition(.idle, .asked, .idle),
        Transition(.idle, .preferred, .running),
        // The peer has changed the PHYs.
        Transition(.idle, .updateCompleted, .idle),

        Transition(.running, .asked, .queued),
        Transition(.running, .preferred, .queued),
        Transition(.running, .commandAnswered, .idle),
        Transition(.running, .updateCompleted, .idle),
        Transition(.running, .timePassed, .idle),

        // The next wish starts, or fails because the command queue is full.
        Transition(.queued, .commandAnswered, .running),
        Transition(.queued, .commandAnswered, .idle),
        Transition(.queued, .updateCompleted, .running),
        Transition(.queued, .updateCompleted, .idle),
        Transition(.queued, .timePassed, .running),
        Transition(.queued, .timePassed, .idle),
    ]
}
