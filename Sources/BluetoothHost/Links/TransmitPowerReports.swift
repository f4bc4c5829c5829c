import BluetoothBase
import BluetoothHCI

/// Reports of the transmit power of either side of a link.
struct TransmitPowerReports: StateMachine {
    enum Event: Sendable {
        /// The application no longer wants reports.
        case stopped
        /// The controller's answer to the command for this request.
        case answered(RequestIdentifier, HCIStatus)
        /// LE Transmit Power Reporting, for a change.
        case changed(TransmitPowerChange)
    }

    private enum Phase: Hashable, Sendable {
        case off
        /// The controller is enabling the reports.
        case enabling(RequestIdentifier)
        case on
    }

    private var phase = Phase.off

    /// The pending request.
    var request: RequestIdentifier? {
        switch phase {
        case .enabling(let request): request
        case .off, .on: nil
        }
    }

    // MARK: Events

    /// Handles the application's request for reports.
    ///
    /// - Throws: `.busy` if the reports are already on or requested, or if the command queue is full.
    mutating func ask(
        local: Bool, remote: Bool, _ request: RequestIdentifier, _ context: LinkContext
    ) throws(HostError) -> [LinkEffect] {
        guard case .off = phase, context.canSendCommand else { throw .busy }
        phase = .enabling(request)
        let command = LESetTransmitPowerReportingEnable(
            connectionHandle: context.handle, reportsLocal: local, reportsRemote: remote)
        return [.send(command, for: .power(.transmitPower, request, context.link))]
    }

    mutating func handle(_ event: Event, _ context: LinkContext) -> [LinkEffect] {
        switch event {
        case .stopped: return stop(context)
        case .answered(let request, let status):
            guard case .enabling(request) = phase else { return [] }
            phase = status == .success ? .on : .off
            return [
                .report(status == .success ? .requestCompleted(request) : .requestFailed(request, .controller(status)))
            ]
        case .changed(let change):
            guard case .on = phase else { return [] }
            return [.report(.power(.transmitPower(change)))]
        }
    }

    private mutating func stop(_ context: LinkContext) -> [LinkEffect] {
        if case .off = phase { return [] }
        let failure = request.map { LinkEffect.report(.requestFailed($0, .cancelled)) }
        phase = .off
        let command = LESetTransmitPowerReportingEnable(
            connectionHandle: context.handle, reportsLocal: false, reportsRemote: false)
        return [failure, .send(command, for: .none)].compactMap { $0 }
    }
}

// MARK: - Transitions

extension TransmitPowerReports {
    enum PhaseName: String, CaseIterable, Sendable { case off, enabling, on }
    enum EventName: String, CaseIterable, Sendable { case asked, stopped, answered, changed }

    var phaseName: PhaseName {
        switch phase {
        case .off: .off
        case .enabling: .enabling
        case .on: .on
        }
    }

    static let transitions: [Transition<Self>] = [
        Transition(.off, .asked, .enabling),

        Transition(.enabling, .answered, .on),
        Transition(.enabling, .answered, .off),
        Transition(.enabling, .stopped, .off),

        Transition(.on, .changed, .on),
        Transition(.on, .stopped, .off),
    ]
}
