import BluetoothBase
import BluetoothGAP
import BluetoothHCI

@testable import BluetoothHost

/// An advertising set in another way: five activities of the controller, and marks for everything else.
struct HostAdvertisingSetModel: Hashable {
    /// What is advertised.
    enum Kind: CaseIterable {
        case connectable
        case train
        /// The same with other data of its periodic advertising.
        case changedTrain
        /// The same with another interval of its periodic advertising.
        case slowTrain

        var isTrain: Bool { self != .connectable }

        var parameters: AdvertisingParameters {
            guard isTrain else { return AdvertisingParameters(data: [2, 1, 6]) }
            var parameters = AdvertisingParameters(
                isConnectable: false, data: [2, 1, 6], extended: ExtendedAdvertising())
            let interval = Duration.milliseconds(self == .slowTrain ? 400 : 100)
            parameters.periodic = PeriodicAdvertising(
                interval: interval...(interval + .milliseconds(20)), data: self == .changedTrain ? [1] : [])
            return parameters
        }

        func isUpdate(of other: Kind) -> Bool { isTrain && other.isTrain && self != .slowTrain && other != .slowTrain }
    }

    enum Event: Hashable {
        case start(Kind), stop
        /// - Parameter hasMoved: whether the host has another address by now.
        case advance(RadioArbiter.Verdict, mayBegin: Bool, hasMoved: Bool)
        /// The controller has turned out not to have the extended commands.
        case advanceWithoutExtendedCommands
        case accepted, refused, answerUnclear
        case peerConnected(isOnly: Bool)
        case peerFailed
        case terminated(HCIStatus)
        case giveUp, abandon, reset
    }

    enum Activity { case idle, starting, running, stopping, removing }

    enum Action: Hashable {
        case setUp, enable, update, disable, silence, remove
        case reportStart, reportEnd, reportFailure
        /// The host decides what becomes of a refusal.
        case reportRefusal
    }

    let isExtended: Bool
    var wanted: Kind?
    var isAnnounced = false
    var activity = Activity.idle
    /// What is being started or is running.
    var current: Kind?
    /// The number of commands that follow the one with the controller.
    var rest = 0
    var isUpdating = false
    var isUncertain = false
    var isKnownToController = false
    var isPeriodic = false
    var held: Kind?
    var heldHasMoved = false
    var isPaused = false
    var failures = 0

    init(isExtended: Bool) { self.isExtended = isExtended }

    mutating func apply(_ event: Event) -> [Action] {
        defer { forget() }
        return actions(of: event)
    }

    /// Forgets what no longer matters, so that fewer states differ.
    private mutating func forget() {
        if activity != .starting { (isUpdating, isUncertain, rest) = (false, false, 0) }
        guard activity == .idle || activity == .stopping || activity == .removing else { return }
        current = nil
        if !isPaused { (held, heldHasMoved) = (nil, false) }
    }

    private mutating func actions(of event: Event) -> [Action] {
        switch event {
        case .start(let kind): (wanted, isAnnounced) = (kind, false)
        case .stop: wanted = nil
        case .advance(let verdict, let mayBegin, let hasMoved): return advance(verdict, mayBegin, hasMoved)
        case .advanceWithoutExtendedCommands:
            guard activity == .idle, !isKnownToController || isPaused && wanted == held, wanted?.isTrain == true else {
                return advance(.wait, false, false)
            }
            wanted = nil
            return [.reportFailure]
        case .accepted: return answered(.success)
        case .refused: return answered(.commandDisallowed)
        case .answerUnclear: return answered(.unspecifiedError)
        case .peerConnected(let isOnly):
            guard activity == .starting || activity == .running, current == .connectable else { return [] }
            if activity == .starting {
                isUncertain = true
            } else if isOnly {
                activity = .idle
            } else {
                return disable()
            }
        case .peerFailed: if activity == .running, current == .connectable { return disable() }
        case .terminated(let status): return terminated(status)
        case .giveUp, .abandon:
            guard wanted != nil, event == .giveUp || !isAnnounced else { return [] }
            wanted = nil
            return [.reportFailure]
        case .reset:
            (activity, isKnownToController, isPeriodic, isPaused) = (.idle, false, false, false)
            (isUpdating, isUncertain, rest, failures) = (false, false, 0, 0)
        }
        return []
    }

    private mutating func advance(
        _ verdict: RadioArbiter.Verdict, _ mayBegin: Bool, _ hasMoved: Bool
    ) -> [Action] {
        guard verdict != .suspended else { return [] }
        if activity == .idle {
            if isKnownToController, !(isPaused && wanted != nil && wanted == held) { return remove() }
            guard let wanted, verdict == .proceed, mayBegin else { return [] }
            let needsSetUp = !isPaused || heldHasMoved != hasMoved
            // Two commands for the parameters and the address of a moved set, three for a train.
            rest = isPaused ? 0 : isExtended ? 2 : 3
            if isPaused, needsSetUp { rest = hasMoved ? 2 : 1 }
            if !isPaused, isExtended {
                rest += (hasMoved ? 1 : 0) + (wanted.isTrain ? 2 : 0) + (wanted == .changedTrain ? 1 : 0)
            }
            (activity, current, held, heldHasMoved, isUncertain) = (.starting, wanted, wanted, hasMoved, false)
            (isKnownToController, isPeriodic, isUpdating) = (isExtended, wanted.isTrain, false)
            return [rest == 0 ? .enable : .setUp]
        }
        guard activity == .running, let current else { return [] }
        if verdict == .stop || wanted == nil || wanted == current {
            isPaused = isPeriodic && verdict == .stop && wanted == current
            if wanted == nil || verdict == .stop { return disable() }
            defer { isAnnounced = true }
            return isAnnounced ? [] : [.reportStart]
        }
        guard let wanted, wanted.isUpdate(of: current) else { return disable() }
        (activity, self.current, held, isUpdating, isUncertain) = (.starting, wanted, wanted, true, false)
        return [.update]
    }

    private mutating func disable() -> [Action] {
        activity = .stopping
        return [.disable]
    }

    private mutating func remove() -> [Action] {
        (activity, isPaused) = (.removing, false)
        return [isPeriodic ? .silence : .remove]
    }

    private mutating func answered(_ status: HCIStatus) -> [Action] {
        switch activity {
        case .idle, .running: return []
        case .stopping: activity = .idle
        case .removing:
            guard !isPeriodic else {
                isPeriodic = false
                return remove()
            }
            (activity, isKnownToController) = (.idle, false)
        case .starting where isUpdating:
            activity = .running
            if status != .success { return [.reportRefusal] }
            return isUncertain ? disable() : []
        case .starting:
            let isLast = rest == 0, wasPaused = isPaused
            if status == .success, !isLast {
                rest -= 1
                return [rest == 0 ? .enable : .setUp]
            }
            isPaused = false
            if isLast, status == .unspecifiedError { return (wasPaused ? [] : [.reportRefusal]) + disable() }
            guard status == .success else {
                activity = .idle
                return wasPaused ? [] : [.reportRefusal]
            }
            activity = .running
            return isUncertain ? disable() : []
        }
        return []
    }

    private mutating func terminated(_ status: HCIStatus) -> [Action] {
        guard status != .success else { return [] }
        if activity == .starting { isUncertain = true }
        guard activity == .running else { return [] }
        activity = .idle
        guard status == .advertisingTimeout else {
            failures += 1
            return []
        }
        guard wanted == current else { return [] }
        wanted = nil
        return [.reportEnd]
    }

    var phase: HostAdvertisingSet.PhaseName {
        switch activity {
        case .idle: isPaused ? .paused : isKnownToController ? .stopped : .idle
        case .starting: isUpdating ? .updating : isPaused ? .resuming : .starting
        case .running: .running
        case .stopping: isPaused ? .pausing : .stopping
        case .removing: isPeriodic ? .silencing : .removing
        }
    }
}
