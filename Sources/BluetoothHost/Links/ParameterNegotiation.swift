import BluetoothBase
import BluetoothHCI
import BluetoothL2CAP

/// The connection parameters of a link, and this device's requests for others: over the link layer where it can, else over L2CAP.
struct ParameterNegotiation: StateMachine {
    enum Event: Sendable {
        /// The peer's link layer has said what it can do.
        case featuresRead(LEFeatures)
        /// The controller has answered LE Connection Update with a Command Status.
        case commandAnswered(HCIStatus)
        /// LE Connection Update Complete, whichever side asked for that. Some controllers send it before the Command Status of
        /// the command it answers.
        case updateCompleted(HCIStatus, CurrentConnectionParameters)
        /// The request over L2CAP has ended.
        case centralAnswered(ConnectionParameterUpdateEnd)
        /// A peripheral was granted these over L2CAP.
        case peripheralAsked(ConnectionParameters)
        case timePassed
    }

    private struct Update: Hashable, Sendable {
        var request: RequestIdentifier
        var parameters: ConnectionParameters
        /// When the host gives up: a central may agree, and then never change anything.
        var deadline: Instant
    }

    private enum Phase: Hashable, Sendable {
        case idle
        /// A request waits for the controller to report new parameters.
        case updating(Update)
        /// The central has refused, and is not asked again before that.
        case refused(until: Instant)
    }

    private enum Procedure: Hashable, Sendable { case linkLayer, signalling }

    private var phase = Phase.idle
    /// The procedure by which a peripheral asks this peer, if the controller has both.
    private var procedure = Procedure.signalling
    /// The parameters that the link has now.
    private(set) var current: CurrentConnectionParameters

    init(_ current: CurrentConnectionParameters) { self.current = current }

    /// How long a peripheral waits before it asks again after a refusal, T_GAP(conn_param_timeout) (Core 5.4, Vol 3, Part C, 9.3.9.2).
    static let refusalPause = Duration.seconds(30)
    /// The time the link layer gives a procedure, which is longer than L2CAP gives a request (Vol 6, Part B, 5.2).
    static let timeout = Duration.seconds(40)

    /// When the machine must be handed `.timePassed`.
    var deadline: Instant? {
        switch phase {
        case .updating(let update): update.deadline
        case .idle, .refused: nil
        }
    }

    /// The request that has not ended.
    var request: RequestIdentifier? {
        switch phase {
        case .updating(let update): update.request
        case .idle, .refused: nil
        }
    }

    // MARK: Events

    /// The application asks for parameters, which are valid.
    ///
    /// - Throws: `.busy` while another request waits, or if there is no room for this one; `.refusedByPeer` for a while after
    ///   the central has refused.
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
            // The controller reports new parameters, and nothing where they hold already (Vol 4, Part E, 7.7.65.3).
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
        // A link that has not been reported yet will have them when it is.
        guard context.isAnnounced else { return [] }
        return [.report(.parametersChanged(parameters))] + end(nil)
    }

    /// The link layer has not changed the parameters. As a peripheral there is still L2CAP, where it is the link layer's
    /// procedure that one of the two does not have after all.
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
        // An answer to a request that has ended.
        Transition(.idle, .centralAnswered, .refused),
        Transition(.idle, .peripheralAsked, .idle),

        Transition(.updating, .featuresRead, .updating),
        Transition(.updating, .commandAnswered, .idle),
        Transition(.updating, .commandAnswered, .refused),
        // A peripheral goes on over L2CAP.
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
