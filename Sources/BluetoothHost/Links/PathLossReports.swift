import BluetoothHCI

/// Reports of the zone that a link's loss of signal is in: the controller takes the thresholds first, and is then switched on.
struct PathLossReports: StateMachine {
    enum Event: Sendable {
        /// The application wants no reports any more.
        case stopped
        /// The controller's answer to a command for this request.
        case answered(RequestIdentifier, HCIStatus)
        /// LE Path Loss Threshold.
        case crossed(LEPathLossThreshold)
    }

    private enum Phase: Hashable, Sendable {
        case off
        /// The thresholds are with the controller.
        case setting(RequestIdentifier)
        /// The controller has the thresholds, and is being switched on.
        case enabling(RequestIdentifier)
        case on
    }

    private var phase = Phase.off

    /// The request that has not ended.
    var request: RequestIdentifier? {
        switch phase {
        case .setting(let request), .enabling(let request): request
        case .off, .on: nil
        }
    }

    // MARK: Events

    /// The application asks for reports.
    ///
    /// - Throws: `.busy` while somebody has them, or has asked for them.
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
        // Whatever the controller makes of it: reports that nobody has asked for go nowhere.
        let command = LESetPathLossReportingEnable(connectionHandle: context.handle, isEnabled: false)
        return [failure, .send(command, for: .none)].compactMap { $0 }
    }

    /// The controller has carried out a step, or refused it.
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
        // 0xFF dB stands for "not available" (Core 5.4, Vol 4, Part E, 7.7.65.32).
        let loss = report.currentPathLoss
        self.init(loss: loss == 0xFF ? nil : Int(loss), zone: report.zoneEntered)
    }
}
