import BluetoothBase

/// The kinds of scenarios, each with its own mix of actions and faults.
@nonexhaustive
public enum ScenarioKind: String, CaseIterable, Sendable {
    /// Everything.
    case mixed
    /// Cards and streams of values, with link faults.
    case streams
    /// Connecting and disconnecting, advertising and scanning.
    case links
    /// Services that are published and withdrawn, subscriptions, and several users per adapter.
    case services
    /// Controllers that fail, are unplugged, and lose packets.
    case controllers
    /// Peers that violate the rules of ATT.
    case brokenPeers
    /// Pairing, bonds and restarts in every world. Of the other kinds, one world in three has them.
    case security
    /// L2CAP channels in every world. Of the other kinds, one world in four has them.
    case channels
    /// An episode in every world: a rare sequence, step by step. Of the other kinds, one world in eight has one.
    case episodes

    /// The kinds that are played in turn if none is specified.
    static let inTurn: [ScenarioKind] = [.mixed, .streams, .links, .services, .controllers, .brokenPeers]

    /// The relative frequency of each kind of action.
    func weight(of kind: Scenario.Action.Kind) -> Int {
        let base =
            switch kind {
            case .advertise: 5
            case .stopAdvertising: 1
            case .scan: 3
            case .stopScanning: 2
            case .connect: 8
            case .release: 1
            case .disconnect: 1
            case .cancel: 2
            case .discover: 4
            case .read: 6
            case .readLong: 3
            case .readByUUID: 2
            case .readMultiple: 2
            case .write: 6
            case .writeLong: 3
            case .writeReliably: 2
            case .writeCommands: 5
            case .subscribe: 14
            case .unsubscribe: 2
            case .notify: 7
            case .indicate: 3
            case .update: 5
            case .card: 18
            case .readRSSI: 2
            case .updateParameters: 1
            case .hold: 1
            case .resume: 2
            case .dawdle: 1
            case .publish: 1
            case .withdraw: 1
            case .leave: 1
            case .join: 2
            // Drawn separately, see `Scenario.addSecurity`.
            case .pair, .beAgent, .beNoAgent, .useLocked, .removeBond, .cancelPairing, .endPairing, .configure,
                .useFormerLink, .dribble, .burst, .subscribeSlowly, .openChannel, .sendOverChannel, .closeChannel,
                .reconfigureChannel, .pauseChannel, .resumeChannel, .step, .advertiseSet, .stopSet,
                .advertiseTrain, .changeTrain, .stopTrain, .synchronize, .endSync, .tellOfTrain,
                .acceptTrains, .advertiseSubevents, .connectInSubevent:
                0
            }
        return base * factor(of: kind)
    }

    private func factor(of kind: Scenario.Action.Kind) -> Int {
        switch (self, kind) {
        case (.streams, .notify), (.streams, .update), (.streams, .card), (.streams, .writeCommands),
            (.streams, .hold), (.streams, .resume):
            4
        case (.links, .connect), (.links, .release), (.links, .disconnect), (.links, .advertise), (.links, .scan),
            (.links, .cancel):
            3
        case (.services, .publish), (.services, .withdraw), (.services, .subscribe), (.services, .unsubscribe),
            (.services, .leave), (.services, .join), (.services, .discover):
            4
        default: 1
        }
    }

    /// The kinds of faults to draw from.
    var faults: [Scenario.Fault.Kind] {
        switch self {
        case .mixed, .security, .episodes:
            Scenario.Fault.Kind.allCases.filter { $0 != .restart && !Scenario.Fault.Kind.hardship.contains($0) }
        case .streams, .channels: [.outOfRange, .lostFragments, .stall, .dropLinks, .weather]
        case .links: [.outOfRange, .dropLinks, .failingConnections, .stall, .weather]
        case .services: [.outOfRange, .dropLinks, .hardwareError]
        case .controllers: [.unplug, .hardwareError, .ignoredCommands, .silence, .weather, .damage, .clockJump]
        case .brokenPeers: [.broken]
        }
    }

    /// The relative frequency of each kind of security action.
    static func securityWeight(of kind: Scenario.Action.Kind) -> Int {
        switch kind {
        case .pair: 7
        case .useLocked: 9
        case .beAgent: 4
        case .beNoAgent: 1
        case .removeBond: 2
        case .cancelPairing: 1
        case .endPairing: 1
        case .connect: 4
        case .advertise: 2
        case .disconnect: 1
        default: 0
        }
    }
}
