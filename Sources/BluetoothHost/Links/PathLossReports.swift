import BluetoothBase
import BluetoothHCI

/// Reports of a link's path loss zone. The host first sends the thresholds to the controller, and then enables the
/// reports.
struct PathLossReports: StateMachine {
    enum Event: Sendable {
        /// The application no longer wants reports.
        case stopped
        /// The controller's answer to a command for this request.
        case answered(RequestIdentifier, HCIStatus)
        /// LE Path Loss Threshold.
        case crossed(LEPathLossThreshold)
    }

    private enum Phase: Hashable, Sendable {
        case off
        /// The controller is processing the thresholds.
        case setting(RequestIdentifier)
        /// The controller has the thresholds, and is enabling the reports.
        case enabling(RequestIdentifier)
        case on
    }

    private var phase = Phase.off

    /// The pending request.
    var request: RequestIdentifier? {
        switch phase {
        case .setting(let request), .enabling(let request): request
        case .off, .on: nil
        }
    }

    // MARK: Events

    /// Handles the application's request for reports.
    ///
    /// - Throws: `.busy` if the reports are already on or requested, or if the command queue is full.
    mutating func ask(
        for thresholds: PathLossThresholds, _ request: RequestIdentifier, _ context: LinkContext
    ) throws(HostError) -> [LinkEffect] {
        guard case .off = phase, context.canSendCommand else { throw .busy }
        phase = .setting(request)
        let command = LESetPathLossReportingParameters(
            connectionHandle: context.handle, highThreshold: thresholds.high, highHysteresis: thresholds.hysteresis,
            lowThreshold: thresholds.low, lowHysteresis: thresholds.hysteresis, minTimeSpent: thresholds.minimumEvents)
        return [.send(command, for: .power(.pathLoss, request, context.link))]
    }

    mutating func handle(_ event: Event, _ context: LinkContext) -> [LinkEffect] {
        switch event {
        case .stopped: return stop(context)
        case .answered(let answered, let status):
            guard answered == request else { return [] }
            return proceed(status, context)
        case .crossed(let report):
            guard case .on = phase, report.zoneEntered.rawValue <= PathLossZone.high.rawValue else { return [] }
            return [.report(.power(.pathLoss(PathLossReport(report))))]
        }
    }

    private mutating func stop(_ context: LinkContext) -> [LinkEffect] {
        if case .off = phase { return [] }
        let failure = request.map { LinkEffect.report(.requestFailed($0, .cancelled)) }
        phase = .off
        // The result does not matter, because reports that are not requested are ignored.
        let command = LESetPathLossReportingEnable(connectionHandle: context.handle, isEnabled: false)
        return [failure, .send(command, for: .none)].compactMap { $0 }
    }

    /// Handles the controller's answer to a step.
    private mutating func proceed(_ status: HCIStatus, _ context: LinkContext) -> [LinkEffect] {
        switch (phase, status) {
        case (.setting(let request), .success):
            guard context.canSendCommand else { return fail(request, .busy) }
            phase = .enabling(request)
            let command = LESetPathLossReportingEnable(connectionHandle: context.handle, isEnabled: true)
            return [.send(command, for: .power(.pathLoss, request, context.link))]
        case (.enabling(let request), .success):
            phase = .on
            return [.report(.requestCompleted(request))]
        case (.setting(let request), _), (.enabling(let request), _): return fail(request, .controller(status))
        case (.off, _), (.on, _): return []
        }
    }

    private mutating func fail(_ request: RequestIdentifier, _ error: HostError) -> [LinkEffect] {
        phase = .off
        return [.report(.requestFailed(request, error))]
    }
}

// MARK: - Transitions

extension PathLossReports {
    enum PhaseName: String, CaseIterable, Sendable { case off, setting, enabling, on }
    enum EventName: String, CaseIterable, Sendable { case asked, stopped, answered, crossed }

    var phaseName: PhaseName {
        switch phase {
        case .off: .off
        case .setting: .setting
        case .enabling: .enabling
        case .on: .on
        }
    }

    static let transitions: [Transition<Self>] = [
        Transition(.off, .asked, .setting),

        Transition(.setting, .answered, .enabling),
        // The controller has refused, or the command queue is full.
        Transition(.setting, .answered, .off),
        Transition(.setting, .stopped, .off),

        Transition(.enabling, .answered, .on),
        Transition(.enabling, .answered, .off),
        Transition(.enabling, .stopped, .off),

        Transition(.on, .crossed, .on),
        Transition(.on, .stopped, .off),
    ]
}

extension PathLossReport {
    fileprivate init(_ report: LEPathLossThreshold) {
        // 0xFF dB means "not available" (Core 5.4, Vol 4, Part E, 7.7.65.32).
        let loss = report.currentPathLoss
        self.init(loss: loss == 0xFF ? nil : Int(loss), zone: report.zoneEntered)
    }
}
