import BluetoothBase
import BluetoothHCI

/// The lifecycle of a controller: bring-up, and recovery from failures.
struct ControllerLifecycle: Hashable, Sendable {
    private enum State: Hashable, Sendable {
        /// The controller has not been started, or was lost.
        case off
        /// The controller is being brought up. The command of this step is pending.
        case asking(BringUpStep, ControllerProfile)
        case up(ControllerInformation, since: Instant)
        /// The host has stopped using the controller after failures.
        case failed
    }

    private let address: HostConfiguration.OwnAddress
    private let staticAddress: DeviceAddress
    private let receiveBufferCount: UInt16
    private let resolvesAddresses: Bool
    private var state: State = .off {
        didSet {
            switch state {
            case .off, .failed: isUnderWay = false
            case .asking, .up: isUnderWay = true
            }
        }
    }
    /// Whether the controller is being brought up or is up. Stored instead of computed from `state`, because it is read
    /// for every event.
    private(set) var isUnderWay = false
    /// The number of resets since the controller was last up. After too many of them, bring-up fails.
    private var attempts = 0
    /// The number of failures since the controller was last up for a while. After too many of them, the controller
    /// counts as failed.
    private var failures = 0

    private static let maximumAttempts = 3
    private static let maximumFailures = 5
    /// The time for which a controller must be up before its earlier failures are forgotten.
    private static let probation = Duration.seconds(10)

    init(_ configuration: HostConfiguration) {
        address = configuration.ownAddress
        staticAddress = configuration.staticAddress ?? ControllerProfile.staticAddress(seed: configuration.seed)
        resolvesAddresses = configuration.security != nil
        receiveBufferCount = min(configuration.receiveBufferCount, ReceiveFlow.maximumBufferCount)
    }

    var isUp: Bool {
        if case .up = state { true } else { false }
    }

    /// Whether Reset is still unanswered.
    var isResetting: Bool {
        if case .asking(.reset, _) = state { true } else { false }
    }

    /// The properties of the controller; nil until it is up.
    var information: ControllerInformation? {
        if case .up(let information, _) = state { information } else { nil }
    }

    /// The type of the controller's address to use on the air.
    var ownAddressType: OwnAddressType { information?.address.kind == .random ? .random : .public }

    // MARK: Transitions

    /// The result of a transition.
    enum Outcome {
        case effects([Effect])
        /// The controller is up.
        case ready(ControllerInformation)
        case failed(HostFailure)
    }

    /// Starts to bring the controller up, and forgets its earlier failures. Does nothing if that has already begun.
    mutating func start() -> Outcome {
        guard !isUnderWay else { return .effects([]) }
        attempts = 0
        failures = 0
        return reset()
    }

    private mutating func reset() -> Outcome {
        attempts += 1
        return ask(.reset, ControllerProfile(), at: .zero)
    }

    /// Sends the command of the next step that applies to this controller, or finishes.
    private mutating func ask(_ first: BringUpStep, _ profile: ControllerProfile, at now: Instant) -> Outcome {
        let address = profile.ownAddress(address, staticAddress)
        for step in BringUpStep.allCases where step.rawValue >= first.rawValue {
            guard
                let command = step.command(
                    for: profile, address, receiveBufferCount: receiveBufferCount,
                    resolvesAddresses: resolvesAddresses)
            else { continue }
            state = .asking(step, profile)
            return .effects([.send(command, for: .bringUp(step))])
        }
        return finish(profile, address, at: now)
    }

    /// Handles the answer to a step's command and continues.
    mutating func answered(
        _ step: BringUpStep, _ completion: borrowing CommandCompletion, at now: Instant
    ) -> Outcome {
        guard case .asking(step, var profile) = state else { return .effects([]) }
        // An answer that cannot be decoded counts as a refusal, regardless of where decoding failed.
        let isUnderstood = completion.status == .success && (try? profile.learn(from: completion, of: step)) != nil
        if !isUnderstood, step.isEssential {
            // An answer with status Success that cannot be decoded is no better than a refusal.
            let status = completion.status == .success ? HCIStatus.unspecifiedError : completion.status
            return giveUp(.refused(completion.opcode, status))
        }
        guard profile.supportsLowEnergy else { return giveUp(.lowEnergyNotSupported) }
        if let next = BringUpStep(rawValue: step.rawValue + 1) { return ask(next, profile, at: now) }
        return finish(profile, profile.ownAddress(address, staticAddress), at: now)
    }

    private mutating func finish(_ profile: ControllerProfile, _ address: DeviceAddress, at now: Instant) -> Outcome {
        guard profile.hasBuffers else { return giveUp(.noDataBuffers) }
        let information = ControllerInformation(profile, address: address)
        state = .up(information, since: now)
        attempts = 0
        return .ready(information)
    }

    /// Handles a failure of the controller: resets it, or fails if resetting has not helped often enough.
    mutating func recover(from cause: HostResetCause, at now: Instant) -> Outcome {
        guard isUnderWay else { return .effects([]) }
        if case .up(_, let since) = state, since.duration(to: now) >= Self.probation { failures = 0 }
        failures += 1
        guard attempts < Self.maximumAttempts, failures <= Self.maximumFailures else { return giveUp(cause.failure) }
        return reset()
    }

    private mutating func giveUp(_ failure: HostFailure) -> Outcome {
        state = .failed
        return .failed(failure)
    }

    /// Handles the loss of the controller.
    mutating func lose() { state = .off }

    var phaseName: PhaseName {
        switch state {
        case .off: .off
        case .asking(.reset, _): .resetting
        case .asking: .asking
        case .up: .up
        case .failed: .failed
        }
    }
}

extension ControllerInformation {
    fileprivate init(_ profile: ControllerProfile, address: DeviceAddress) {
        self.init(
            address: address, publicAddress: profile.publicAddress, version: profile.version,
            commands: profile.commands, features: profile.features, aclDataLength: profile.aclDataLength,
            aclBufferCount: profile.aclBufferCount, filterAcceptListSize: profile.filterAcceptListSize,
            resolvingListSize: profile.resolvingListSize, usesExtendedCommands: profile.supportsExtendedAdvertising,
            advertisingSetCount: profile.advertisingSetCount,
            maximumAdvertisingDataLength: profile.maximumAdvertisingDataLength,
            controlsReceiving: profile.controlsReceiving)
    }
}

extension HostResetCause {
    /// The failure to report if resetting does not help.
    fileprivate var failure: HostFailure {
        switch self {
        case .commandTimedOut(let opcode): .controllerNotResponding(opcode)
        case .hardwareError(let code): .hardwareError(code)
        case .malformedPacket: .malformedPacket
        }
    }
}
