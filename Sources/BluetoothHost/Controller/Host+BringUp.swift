import BluetoothBase
import BluetoothHCI

extension Host {
    /// Forgets what it knew of the controller and asks anew, starting with Reset.
    mutating func beginBringUp(at now: Instant) {
        bringUp = BringUp(attempts: bringUp.attempts + 1, failures: bringUp.failures)
        controller = nil
        ask(.reset, at: now)
    }

    /// Asks the next question that makes sense for this controller, or finishes.
    private mutating func ask(_ first: BringUp.Step, at now: Instant) {
        for step in BringUp.Step.allCases where step.rawValue >= first.rawValue {
            bringUp.state = .asking(step)
            if issue(step, at: now) { return }
        }
        finishBringUp(at: now)
    }

    /// Sends the command of a step. False where the step does not apply to this controller.
    private mutating func issue(_ step: BringUp.Step, at now: Instant) -> Bool {
        let purpose = CommandPurpose.bringUp(step)
        let supported = bringUp.commands
        switch step {
        case .reset:
            send(Reset(), for: purpose, at: now)
        case .readLocalVersionInformation:
            send(ReadLocalVersionInformation(), for: purpose, at: now)
        case .readLocalSupportedCommands:
            send(ReadLocalSupportedCommands(), for: purpose, at: now)
        case .readLocalSupportedFeatures:
            send(ReadLocalSupportedFeatures(), for: purpose, at: now)
        case .readBDADDR:
            send(ReadBDADDR(), for: purpose, at: now)
        case .setEventMask:
            send(SetEventMask(eventMask: .host), for: purpose, at: now)
        case .writeLEHostSupport:
            // Only a controller that also does BR/EDR needs to be told that its host knows LE (Vol 4, Part E, 7.3.79).
            guard bringUp.hasClassicRadio, supported.contains(.writeLEHostSupport) else { return false }
            send(WriteLEHostSupport(isLESupported: true), for: purpose, at: now)
        case .leSetEventMask:
            send(LESetEventMask(eventMask: .host), for: purpose, at: now)
        case .leReadLocalSupportedFeatures:
            send(LEReadLocalSupportedFeatures(), for: purpose, at: now)
        case .leReadBufferSizeV2:
            guard supported.contains(.leReadBufferSizeV2) else { return false }
            send(LEReadBufferSizeV2(), for: purpose, at: now)
        case .leReadBufferSize:
            guard !bringUp.hasBuffers else { return false }
            send(LEReadBufferSize(), for: purpose, at: now)
        case .readBufferSize:
            // "0x0000: no dedicated LE buffer – use Read_Buffer_Size" (Vol 4, Part E, 7.8.2).
            guard !bringUp.hasBuffers else { return false }
            send(ReadBufferSize(), for: purpose, at: now)
        case .leReadFilterAcceptListSize:
            guard supported.contains(.leReadFilterAcceptListSize) else { return false }
            send(LEReadFilterAcceptListSize(), for: purpose, at: now)
        case .leReadMaximumDataLength:
            guard bringUp.features.contains(.dataPacketLengthExtension),
                supported.contains(.leReadMaximumDataLength)
            else { return false }
            send(LEReadMaximumDataLength(), for: purpose, at: now)
        case .leWriteSuggestedDefaultDataLength:
            guard bringUp.maximumDataLength.octets > 27, supported.contains(.leWriteSuggestedDefaultDataLength)
            else { return false }
            send(LEWriteSuggestedDefaultDataLength(transmit: bringUp.maximumDataLength), for: purpose, at: now)
        case .leSetRandomAddress:
            guard ownAddress.kind == .random else { return false }
            send(LESetRandomAddress(address: ownAddress), for: purpose, at: now)
        }
        return true
    }

    /// Takes the answer to a step's command and goes on.
    mutating func bringUpAnswered(
        _ step: BringUp.Step, _ completion: borrowing CommandCompletion, at now: Instant
    ) {
        guard bringUp.state == .asking(step) else { return }
        let isUnderstood = completion.status == .success && (try? bringUp.learn(from: completion, of: step)) != nil
        if !isUnderstood, step.isEssential {
            // An answer that promises success and cannot be read is no better than a refusal.
            let status = completion.status == .success ? HCIStatus.unspecifiedError : completion.status
            return fail(.refused(completion.opcode, status), at: now)
        }
        if !bringUp.supportsLowEnergy {
            return fail(.lowEnergyNotSupported, at: now)
        }
        if let next = BringUp.Step(rawValue: step.rawValue + 1) {
            ask(next, at: now)
        } else {
            finishBringUp(at: now)
        }
    }

    private mutating func finishBringUp(at now: Instant) {
        guard bringUp.hasBuffers else { return fail(.noDataBuffers, at: now) }
        let information = ControllerInformation(
            address: ownAddress, publicAddress: bringUp.publicAddress, version: bringUp.version,
            commands: bringUp.commands, features: bringUp.features,
            aclDataLength: bringUp.aclDataLength, aclBufferCount: bringUp.aclBufferCount,
            filterAcceptListSize: bringUp.filterAcceptListSize)
        controller = information
        aclDataLength = information.aclDataLength
        flow.reset(bufferCount: information.aclBufferCount)
        bringUp.state = .up
        bringUp.attempts = 0
        bringUp.upSince = now
        events.append(.controller(.ready))
        reconcile(at: now)
    }

    /// Gives the controller up.
    mutating func fail(_ failure: HostFailure, at now: Instant) {
        guard bringUp.isUnderWay else { return }
        bringUp.state = .failed
        forgetController(.notReady, at: now)
        abandonAttempts(.notReady)
        events.append(.controller(.failed(failure)))
    }

    /// Which of its addresses the controller is to use.
    var ownAddressType: OwnAddressType { ownAddress.kind == .random ? .random : .public }

    /// The address the host uses, as far as the controller's public address is known.
    private var ownAddress: DeviceAddress {
        switch configuration.ownAddress {
        case .public: bringUp.publicAddress
        case .staticRandom(let address): DeviceAddress(address.value, kind: .random)
        case .automatic where bringUp.publicAddress.value == 0: bringUp.staticAddress(seed: configuration.seed)
        case .automatic: bringUp.publicAddress
        }
    }
}

extension BringUp.Step {
    /// Whether nothing can be done with a controller that refuses this. The rest is done without.
    fileprivate var isEssential: Bool {
        switch self {
        case .reset, .leReadBufferSize, .readBufferSize, .leSetRandomAddress: true
        default: false
        }
    }
}

extension BringUp {
    init(attempts: Int, failures: Int) {
        self.attempts = attempts
        self.failures = failures
    }

    var hasBuffers: Bool { aclDataLength > 0 && aclBufferCount > 0 }

    /// A static random address that is the same for the same seed (Vol 6, Part B, 1.3.2.1: the two top bits are ones,
    /// the rest neither all zeros nor all ones).
    func staticAddress(seed: UInt64) -> DeviceAddress {
        var generator = SeededGenerator(seed: seed)
        var bits: UInt64
        repeat { bits = generator.next() & 0x3FFF_FFFF_FFFF } while bits == 0 || bits == 0x3FFF_FFFF_FFFF
        return DeviceAddress(bits | 0xC000_0000_0000, kind: .random)
    }

    /// Takes what a command returned.
    fileprivate mutating func learn(
        from completion: borrowing CommandCompletion, of step: Step
    ) throws(DecodingFailure) {
        switch step {
        case .readLocalVersionInformation:
            version = try completion.decodeReturnParameters(of: ReadLocalVersionInformation.self)
        case .readLocalSupportedCommands:
            commands = try completion.decodeReturnParameters(of: ReadLocalSupportedCommands.self).supportedCommands
        case .readLocalSupportedFeatures:
            let features = try completion.decodeReturnParameters(of: ReadLocalSupportedFeatures.self).features
            supportsLowEnergy = features.contains(.leSupported)
            hasClassicRadio = !features.contains(.brEDRNotSupported)
        case .readBDADDR:
            publicAddress = try completion.decodeReturnParameters(of: ReadBDADDR.self).address
        case .leReadLocalSupportedFeatures:
            features = try completion.decodeReturnParameters(of: LEReadLocalSupportedFeatures.self).features
        case .leReadBufferSizeV2:
            let sizes = try completion.decodeReturnParameters(of: LEReadBufferSizeV2.self)
            setBuffers(length: sizes.aclDataPacketLength, count: UInt16(sizes.totalACLDataPackets))
        case .leReadBufferSize:
            let sizes = try completion.decodeReturnParameters(of: LEReadBufferSize.self)
            setBuffers(length: sizes.aclDataPacketLength, count: UInt16(sizes.totalACLDataPackets))
        case .readBufferSize:
            let sizes = try completion.decodeReturnParameters(of: ReadBufferSize.self)
            setBuffers(length: sizes.aclDataPacketLength, count: sizes.totalACLDataPackets)
        case .leReadFilterAcceptListSize:
            filterAcceptListSize = Int(try completion.decodeReturnParameters(of: LEReadFilterAcceptListSize.self).size)
        case .leReadMaximumDataLength:
            maximumDataLength = try completion.decodeReturnParameters(of: LEReadMaximumDataLength.self).transmit
        case .reset, .setEventMask, .writeLEHostSupport, .leSetEventMask, .leWriteSuggestedDefaultDataLength,
            .leSetRandomAddress:
            break
        }
    }

    /// Both must be there for either to count: one preset of a well-known virtual controller reports a length of 0.
    private mutating func setBuffers(length: UInt16, count: UInt16) {
        guard length > 0, count > 0 else { return }
        aclDataLength = Int(length)
        aclBufferCount = Int(count)
    }
}

extension EventMask {
    /// The events this host makes sense of.
    fileprivate static let host: EventMask = [
        .disconnectionComplete, .encryptionChange, .hardwareError, .dataBufferOverflow,
        .encryptionKeyRefreshComplete, .leMeta,
    ]
}

extension LEEventMask {
    /// The LE events this host makes sense of. Those it would only ignore stay masked.
    fileprivate static let host: LEEventMask = [
        .connectionComplete, .advertisingReport, .connectionUpdateComplete, .readRemoteFeaturesComplete,
        .longTermKeyRequest, .remoteConnectionParameterRequest, .dataLengthChange, .phyUpdateComplete,
    ]
}
