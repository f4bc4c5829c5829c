import BluetoothBase
import BluetoothHCI

/// Reads of the transmit power of either side of a link. The controller answers reads of this device's power, any
/// number at a time. Reads of the peer's power are answered by the peer, one at a time.
struct PowerReadings: StateMachine {
    enum Event: Sendable {
        /// The controller's answer to a read of this device's power.
        case localAnswered(RequestIdentifier, Result<LinkTransmitPower, HostError>)
        /// The Command Status of a read of the peer's power. The peer's answer follows.
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
    /// The pending reads of this device's power.
    private var localRequests: [RequestIdentifier] = []

    /// The procedure response timeout of the link layer (Core 5.4, Vol 6, Part B, 5.2).
    static let timeout = Duration.seconds(40)

    /// The time at which to pass `.timePassed` to the state machine. Inlined, because it is read after every packet.
    @inline(__always)
    var deadline: Instant? {
        switch phase {
        case .idle: nil
        case .waiting(_, let deadline): deadline
        }
    }

    /// The pending requests.
    var requests: [RequestIdentifier] {
        switch phase {
        case .idle: localRequests
        case .waiting(let request, _): localRequests + [request]
        }
    }

    // MARK: Events

    /// Handles the application's request for this device's power.
    mutating func readLocal(
        on phy: LEPHY, _ request: RequestIdentifier, _ context: LinkContext
    ) throws(HostError) -> [LinkEffect] {
        guard context.canSendCommand else { throw .busy }
        localRequests.append(request)
        let command = LEEnhancedReadTransmitPowerLevel(connectionHandle: context.handle, phy: PowerLevelPHY(phy))
        return [.send(command, for: .power(.localReading, request, context.link))]
    }

    /// Handles the application's request for the peer's power.
    ///
    /// - Throws: `.busy` while another such request is pending.
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

    /// Ends the request for the peer's power.
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
    /// The PHY of a link. The coding on LE Coded is unknown, so S=8 is assumed, which both sides always support.
    fileprivate init(_ phy: LEPHY) { self.init(rawValue: phy.rawValue) }
}
