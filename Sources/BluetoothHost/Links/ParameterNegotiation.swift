import BluetoothBase
import BluetoothHCI
import BluetoothL2CAP

/// The connection parameters of a link, and this device's requests to change them: over the link layer if possible,
/// otherwise over L2CAP.
struct ParameterNegotiation: StateMachine {
    enum Event: Sendable {
        /// The features of the peer's link layer have been read.
        case featuresRead(LEFeatures)
        /// The controller has answered LE Connection Update with Command Status.
        case commandAnswered(HCIStatus)
        /// LE Connection Update Complete, which either side may have caused. Some controllers send it before the
        /// Command Status of the command that led to it.
        case updateCompleted(HCIStatus, CurrentConnectionParameters)
        /// The request over L2CAP has ended.
        case centralAnswered(ConnectionParameterUpdateEnd)
        /// The parameters that a peripheral requested over L2CAP were accepted.
        case peripheralAsked(ConnectionParameters)
        case timePassed
    }

    private struct Update: Hashable, Sendable {
        var request: RequestIdentifier
        var parameters: ConnectionParameters
        /// The time at which the request fails, because a central may accept it without ever changing anything.
        var deadline: Instant
    }

    private enum Phase: Hashable, Sendable {
        case idle
        /// A request is pending until the controller reports new parameters.
        case updating(Update)
        /// The central has refused. It must not be asked again before the given time.
        case refused(until: Instant)
    }

    private enum Procedure: Hashable, Sendable { case linkLayer, signalling }

    private var phase = Phase.idle
    /// The procedure that a peripheral uses with this peer, if the controller supports both.
    private var procedure = Procedure.signalling
    /// The current parameters.
    private(set) var current: CurrentConnectionParameters

    init(_ current: CurrentConnectionParameters) { self.current = current }

    /// The time that a peripheral waits after a refusal before its next request, T_GAP(conn_param_timeout) (Core 5.4,
    /// Vol 3, Part C, 9.3.9.2).
    static let refusalPause = Duration.seconds(30)
    /// The procedure response timeout of the link layer (Vol 6, Part B, 5.2). It is longer than the timeout of an L2CAP
    /// request.
    static let timeout = Duration.seconds(40)

    /// The time at which to pass `.timePassed` to the state machine.
    var deadline: Instant? {
        switch phase {
        case .updating(let update): update.deadline
        case .idle, .refused: nil
        }
    }

    /// The pending request.
    var request: RequestIdentifier? {
        switch phase {
        case .updating(let update): update.request
        case .idle, .refused: nil
        }
    }

    // MARK: Events

    /// Handles the application's request for parameters, which must be valid.
    ///
    /// - Throws: `.busy` while another request is pending, or if there is no room for this one; `.refusedByPeer` for
    ///   some time after the central has refused.
    mutating func ask(
        for parameters: ConnectionParameters, _ request: RequestIdentifier, _ context: LinkContext
    ) throws(HostError) -> [LinkEffect] {
        switch phase {
        case .updating: throw .busy
        case .refused(let until) where context.now < until: throw .refusedByPeer
        case .idle, .refused: break
        }
        let usesLinkLayer = context.role == .central || context.hasParameterRequest && procedure == .linkLayer
        guard usesLinkLayer ? context.canSendCommand : !context.isAskingCentral else { throw .busy }
        phase = .updating(
            Update(
                request: request, parameters: parameters, deadline: context.now.advanced(by: Self.timeout)))
        guard usesLinkLayer else { return [.requestParameters(parameters)] }
        return [.send(command(for: parameters, context), for: .connectionUpdate(context.link))]
    }

    mutating func handle(_ event: Event, _ context: LinkContext) -> [LinkEffect] {
        switch event {
        case .featuresRead(let features):
            procedure = features.contains(.connectionParametersRequest) ? .linkLayer : .signalling
            return []
        case .commandAnswered(.success): return []
        case .commandAnswered(let status): return failed(status, context)
        case .updateCompleted(.success, let parameters): return changed(to: parameters, context)
        case .updateCompleted(let status, _): return failed(status, context)
        case .centralAnswered(.accepted):
            // The controller reports new parameters, but nothing if they are already in effect (Vol 4, Part E,
            // 7.7.65.3).
            guard case .updating(let update) = phase, current.satisfy(update.parameters) else { return [] }
            return end(nil)
        case .centralAnswered(.timedOut): return end(.timedOut)
        case .centralAnswered(.rejected), .centralAnswered(.notSupported): return refused(context)
        case .peripheralAsked(let parameters):
            guard context.canSendCommand else { return [] }
            return [.send(command(for: parameters, context), for: .none)]
        case .timePassed:
            guard let deadline, deadline <= context.now else { return [] }
            return end(.timedOut)
        }
    }

    private mutating func changed(
        to parameters: CurrentConnectionParameters, _ context: LinkContext
    ) -> [LinkEffect] {
        current = parameters
        // A link that has not been reported yet will be reported with the new parameters.
        guard context.isAnnounced else { return [] }
        return [.report(.parametersChanged(parameters))] + end(nil)
    }

    /// Handles a failure to change the parameters over the link layer. If one of the two sides turns out not to support
    /// that procedure, a peripheral can still use L2CAP.
    private mutating func failed(_ status: HCIStatus, _ context: LinkContext) -> [LinkEffect] {
        guard context.role == .peripheral, case .updating(let update) = phase else { return end(.controller(status)) }
        switch status {
        case .unsupportedRemoteFeature, .commandDisallowed, .unknownCommand:
            procedure = .signalling
            guard !context.isAskingCentral else { return end(.controller(status)) }
            return [.requestParameters(update.parameters)]
        case .unacceptableConnectionParameters: return refused(context)
        default: return end(.controller(status))
        }
    }

    private mutating func refused(_ context: LinkContext) -> [LinkEffect] {
        defer { phase = .refused(until: context.now.advanced(by: Self.refusalPause)) }
        return end(.refusedByPeer)
    }

    private mutating func end(_ error: HostError?) -> [LinkEffect] {
        guard case .updating(let update) = phase else { return [] }
        phase = .idle
        return [.report(error.map { .requestFailed(update.request, $0) } ?? .requestCompleted(update.request))]
    }

    private func command(for parameters: ConnectionParameters, _ context: LinkContext) -> LEConnectionUpdate {
        LEConnectionUpdate(
            connectionHandle: context.handle, connectionParameters: LEConnectionParameters(parameters))
    }
}

// MARK: - Transitions

extension ParameterNegotiation {
    enum PhaseName: String, CaseIterable, Sendable { case idle, updating, refused }
    enum EventName: String, CaseIterable, Sendable {
        case asked, featuresRead, commandAnswered, updateCompleted, centralAnswered, peripheralAsked, timePassed
    }

    var phaseName: PhaseName {
        switch phase {
        case .idle: .idle
        case .updating: .updating
        case .refused: .refused
        }
    }

    static let transitions: [Transition<Self>] = [
        Transition(.idle, .asked, .updating),
        Transition(.idle, .featuresRead, .idle),
        Transition(.idle, .updateCompleted, .idle),
        // The answer to a request that has already ended.
        Transition(.idle, .centralAnswered, .refused),
        Transition(.idle, .peripheralAsked, .idle),

        Transition(.updating, .featuresRead, .updating),
        Transition(.updating, .commandAnswered, .idle),
        Transition(.updating, .commandAnswered, .refused),
        // A peripheral continues over L2CAP.
        Transition(.updating, .commandAnswered, .updating),
        Transition(.updating, .updateCompleted, .idle),
        Transition(.updating, .updateCompleted, .refused),
        Transition(.updating, .updateCompleted, .updating),
        Transition(.updating, .centralAnswered, .idle),
        Transition(.updating, .centralAnswered, .refused),
        Transition(.updating, .peripheralAsked, .updating),
        Transition(.updating, .timePassed, .idle),

        Transition(.refused, .asked, .updating),
        Transition(.refused, .featuresRead, .refused),
        Transition(.refused, .updateCompleted, .refused),
        Transition(.refused, .centralAnswered, .refused),
        Transition(.refused, .peripheralAsked, .refused),
    ]
}
