import BluetoothBase
import BluetoothHCI

/// Requests for the power that either side of a link sends with. The controller answers those about this device, in any number. The
/// peer answers the others, one at a time.
struct PowerReadings: StateMachine {
    enum Event: Sendable {
        /// The controller's answer about this device.
        case localAnswered(RequestIdentifier, Result<LinkTransmitPower, HostError>)
        /// The Command Status of the request for the peer's power. The peer's answer follows.
        case remoteAnswered(HCIStatus)
        /// The peer's answer.
        case remoteReported(HCIStatus, LinkTransmitPower)
        case timePassed
    }

    private enum Phase: Hashable, Sendable {
        case idle
        /// A request waits for the peer's answer, until the deadline at most.
        case waiting(RequestIdentifier, deadline: Instant)
    }

    private var phase = Phase.idle
    /// The requests about this device's power.
    private var localRequests: [RequestIdentifier] = []

    /// The time the link layer gives a procedure (Core 5.4, Vol 6, Part B, 5.2).
    static let timeout = Duration.seconds(40)

    /// When the machine must be handed `.timePassed`. Inlined, since it is read after every packet.
    @inline(__always)
    var deadline: Instant? {
        switch phase {
        case .idle: nil
        case .waiting(_, let deadline): deadline
        }
    }

    /// The requests that have not ended.
    var requests: [RequestIdentifier] {
        switch phase {
        case .idle: localRequests
        case .waiting(let request, _): localRequests + [request]
        }
    }

    // MARK: Events

    /// The application asks for this device's power.
    mutating func readLocal(
        on phy: LEPHY, _ request: RequestIdentifier, _ context: LinkContext
    ) throws(HostError) -> [LinkEffect] {
        guard context.canSendCommand else { throw .busy }
        localRequests.append(request)
        let command = LEEnhancedReadTransmitPowerLevel(connectionHandle: context.handle, phy: PowerLevelPHY(phy))
        return [.send(command, for: .power(.localReading, request, context.link))]
    }

    /// The application asks for the peer's power.
    ///
    /// - Throws: `.busy` while another such request waits.
    mutating func readRemote(
        on phy: LEPHY, _ request: RequestIdentifier, _ context: LinkContext
    ) throws(HostError) -> [LinkEffect] {
        guard case .idle = phase, context.canSendCommand else { throw .busy }
        phase = .waiting(request, deadline: context.now.advanced(by: Self.timeout))
        let command = LEReadRemoteTransmitPowerLevel(connectionHandle: context.handle, phy: PowerLevelPHY(phy))
        return [.send(command, for: .power(.remoteReading, request, context.link))]
    }

    mutating func handle(_ event: Event, _ context: LinkContext) -> [LinkEffect] {
        switch event {
        case .localAnswered(let request, let result):
            guard let index = localRequests.firstIndex(of: request) else { return [] }
            localRequests.remove(at: index)
            return [Self.report(of: request, result)]
        case .remoteAnswered(.success): return []
        case .remoteAnswered(let status): return end(.failure(.controller(status)))
        case .remoteReported(.success, let power): return end(.success(power))
        case .remoteReported(let status, _): return end(.failure(.controller(status)))
        case .timePassed:
            guard let deadline, deadline <= context.now else { return [] }
            return end(.failure(.timedOut))
        }
    }

    /// The request for the peer's power has ended.
    private mutating func end(_ result: Result<LinkTransmitPower, HostError>) -> [LinkEffect] {
        guard case .waiting(let request, _) = phase else { return [] }
        phase = .idle
        return [Self.report(of: request, result)]
    }

    private static func report(
        of request: RequestIdentifier, _ result: Result<LinkTransmitPower, HostError>
    ) -> LinkEffect {
        switch result {
        case .success(let power): .report(.transmitPowerRead(request, power))
        case .failure(let error): .report(.requestFailed(request, error))
        }
    }
}

// MARK: - Transitions

extension PowerReadings {
    enum PhaseName: String, CaseIterable, Sendable { case idle, waiting }
    enum EventName: String, CaseIterable, Sendable {
        case localAsked, remoteAsked, localAnswered, remoteAnswered, remoteReported, timePassed
    }

    var phaseName: PhaseName {
        switch phase {
        case .idle: .idle
        case .waiting: .waiting
        }
    }

    static let transitions: [Transition<Self>] = [
        Transition(.idle, .localAsked, .idle),
        Transition(.idle, .localAnswered, .idle),
        Transition(.idle, .remoteAsked, .waiting),

        Transition(.waiting, .localAsked, .waiting),
        Transition(.waiting, .localAnswered, .waiting),
        Transition(.waiting, .remoteAnswered, .idle),
        Transition(.waiting, .remoteReported, .idle),
        Transition(.waiting, .timePassed, .idle),
    ]
}

extension PowerLevelPHY {
    /// That of a link. Which coding LE Coded has there is not known: eight symbols a bit is what both sides can always use.
    fileprivate init(_ phy: LEPHY) { self.init(rawValue: phy.rawValue) }
}
