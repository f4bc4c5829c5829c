import BluetoothBase
import BluetoothHCI

/// Advertising sets (Core 5.4, Vol 4, Part E, 7.8.52 to 7.8.60), except for starting and ending them.
extension VirtualController {
    /// The maximum number of sets of any controller.
    static let maximumSets = 16

    /// The maximum data length of one auxiliary packet, in octets. The data of connectable advertising must fit into
    /// one.
    static let longestAuxiliaryData = 245

    /// The slot of a set among the advertisers; nil if no set has this handle.
    func slot(of handle: AdvertisingHandle) -> Int? {
        settings.advertisers.indices.dropFirst().first {
            settings.existingSets.contains($0) && settings.advertisers[$0].parameters.advertisingHandle == handle
        }
    }

    /// Whether a command is of the kind, legacy or extended, that the host has used since the last reset. A host must
    /// not mix them.
    mutating func admitsKind(of opcode: HCIOpcode) -> Bool {
        let isExtended = SupportedCommands.excludesLegacy(opcode)
        guard isExtended || SupportedCommands.legacy.contains(opcode) else { return true }
        if let used = settings.usesExtendedCommands { return used == isExtended }
        settings.usesExtendedCommands = isExtended
        return true
    }

    private var setLimit: Int { min(Int(configuration.maximumAdvertisingSets), Self.maximumSets) }

    mutating func changeSets(_ command: borrowing HCICommandPacket) throws(DecodingFailure) {
        switch command.opcode {
        case .leReadMaximumAdvertisingDataLength:
            complete(
                LEReadMaximumAdvertisingDataLength.self,
                returning: .init(length: configuration.maximumAdvertisingDataLength))
        case .leReadNumberOfSupportedAdvertisingSets:
            complete(LEReadNumberOfSupportedAdvertisingSets.self, returning: .init(count: UInt8(setLimit)))
        case .leSetExtendedAdvertisingParameters:
            let parameters = try command.decode(as: LESetExtendedAdvertisingParameters.self)
            let status = setParameters(parameters)
            guard status == .success else { return complete(command.opcode, status) }
            complete(
                LESetExtendedAdvertisingParameters.self,
                returning: .init(selectedTransmitPower: min(parameters.transmitPower, configuration.transmitPower)))
        case .leSetAdvertisingSetRandomAddress:
            complete(command.opcode, setRandomAddress(try command.decode()))
        case .leSetExtendedAdvertisingData:
            complete(command.opcode, setData(try command.decode()))
        case .leSetExtendedScanResponseData:
            complete(command.opcode, setScanResponseData(try command.decode()))
        case .leRemoveAdvertisingSet:
            complete(command.opcode, remove(try command.decode(as: LERemoveAdvertisingSet.self).advertisingHandle))
        case .leClearAdvertisingSets:
            let isInUse = settings.advertisers.contains { $0.isEnabled || $0.periodic.isEnabled }
            guard !isInUse else { return complete(command.opcode, .commandDisallowed) }
            settings.existingSets.removeAll()
            complete(command.opcode, .success)
        default: acknowledge(command.opcode, .unknownCommand)
        }
    }

    private mutating func setParameters(_ parameters: LESetExtendedAdvertisingParameters) -> HCIStatus {
        guard parameters.advertisingHandle.rawValue <= 0xEF, parameters.isValid else {
            return .invalidCommandParameters
        }
        guard configuration.receives(parameters.primaryPHY),
            parameters.properties.contains(.legacy) || configuration.receives(parameters.secondaryPHY)
        else { return .unsupportedFeatureOrParameterValue }
        if let slot = slot(of: parameters.advertisingHandle) {
            guard !settings.advertisers[slot].isEnabled else { return .commandDisallowed }
            var changed = settings.advertisers[slot]
            changed.parameters = parameters
            guard !changed.periodic.isSetUp || changed.mayBePeriodic,
                changed.takes(changed.data), changed.takes(response: changed.scanResponseData)
            else {
                return .invalidCommandParameters
            }
            settings.advertisers[slot] = changed
            return .success
        }
        guard settings.existingSets.count < setLimit else { return .memoryCapacityExceeded }
        var slot = 1
        while settings.existingSets.contains(slot) { slot += 1 }
        while settings.advertisers.count <= slot { settings.advertisers.append(AdvertisingState()) }
        settings.existingSets.insert(slot)
        settings.advertisers[slot] = AdvertisingState()
        settings.advertisers[slot].parameters = parameters
        return .success
    }

    private mutating func setRandomAddress(_ command: LESetAdvertisingSetRandomAddress) -> HCIStatus {
        guard let slot = slot(of: command.advertisingHandle) else { return .unknownAdvertisingIdentifier }
        let set = settings.advertisers[slot]
        guard !set.isEnabled || !set.isConnectable else { return .commandDisallowed }
        settings.advertisers[slot].randomAddress = command.address
        return .success
    }

    private mutating func setData(_ command: LESetExtendedAdvertisingData) -> HCIStatus {
        guard let slot = slot(of: command.advertisingHandle) else { return .unknownAdvertisingIdentifier }
        let set = settings.advertisers[slot]
        if command.fragment.operation == .unchanged {
            guard !set.isLegacy, set.isEnabled, !set.data.isEmpty, command.fragment.data.isEmpty else {
                return .invalidCommandParameters
            }
            settings.advertisers[slot].dataIdentifier &+= 1
            return .success
        }
        let (status, whole, unfinished) = join(command.fragment, to: set.unfinishedData, of: set) { set.takes($0) }
        guard status == .success else { return status }
        settings.advertisers[slot].unfinishedData = unfinished
        guard let whole else { return .success }
        guard !set.isEnabled || set.isSendable(whole) else { return .packetTooLong }
        settings.advertisers[slot].data = whole
        settings.advertisers[slot].dataIdentifier &+= 1
        return .success
    }

    private mutating func setScanResponseData(_ command: LESetExtendedScanResponseData) -> HCIStatus {
        guard let slot = slot(of: command.advertisingHandle) else { return .unknownAdvertisingIdentifier }
        let set = settings.advertisers[slot]
        guard command.fragment.operation != .unchanged else { return .invalidCommandParameters }
        let (status, whole, unfinished) = join(command.fragment, to: set.unfinishedScanResponseData, of: set) {
            set.takes(response: $0)
        }
        guard status == .success else { return status }
        settings.advertisers[slot].unfinishedScanResponseData = unfinished
        guard let whole else { return .success }
        guard !set.isEnabled || set.isLegacy || !set.isScannable || !whole.isEmpty else { return .commandDisallowed }
        settings.advertisers[slot].scanResponseData = whole
        return .success
    }

    /// Appends a fragment to the earlier ones.
    ///
    /// - Returns: the complete data, or the unfinished data if more fragments must follow.
    private func join(
        _ fragment: AdvertisingDataFragment, to former: [UInt8]?, of set: AdvertisingState, _ isTaken: ([UInt8]) -> Bool
    ) -> (status: HCIStatus, whole: [UInt8]?, unfinished: [UInt8]?) {
        let isComplete = fragment.operation == .complete
        let isFirst = isComplete || fragment.operation == .first
        guard isComplete || !set.isLegacy && !fragment.data.isEmpty, isFirst || former != nil else {
            return (.invalidCommandParameters, nil, nil)
        }
        guard isComplete || !set.isEnabled else { return (.commandDisallowed, nil, nil) }
        let data = (isFirst ? [] : former ?? []) + fragment.data
        guard isTaken(data) else { return (.invalidCommandParameters, nil, nil) }
        guard data.count <= Int(configuration.maximumAdvertisingDataLength) else {
            return (.memoryCapacityExceeded, nil, nil)
        }
        return isComplete || fragment.operation == .last ? (.success, data, nil) : (.success, nil, data)
    }

    private mutating func remove(_ handle: AdvertisingHandle) -> HCIStatus {
        guard let slot = slot(of: handle) else { return .unknownAdvertisingIdentifier }
        let set = settings.advertisers[slot]
        guard !set.isEnabled, !set.periodic.isEnabled else { return .commandDisallowed }
        settings.existingSets.remove(slot)
        return .success
    }

    /// The reason why a set cannot be enabled; success if it can.
    func mayEnable(_ slot: Int, _ request: LESetExtendedAdvertisingEnable.AdvertisingSet) -> HCIStatus {
        let set = settings.advertisers[slot]
        guard set.unfinishedData == nil, set.unfinishedScanResponseData == nil,
            set.isLegacy || !set.isScannable || !set.scanResponseData.isEmpty
        else { return .commandDisallowed }
        guard address(of: set) != nil, !set.isHighDutyCycle || (1...128).contains(request.duration) else {
            return .invalidCommandParameters
        }
        guard set.isSendable(set.data) else { return .packetTooLong }
        return set.isConnectable && freeConnectionSlot == nil ? .connectionLimitExceeded : .success
    }

    mutating func reportSetTerminated(_ slot: Int, _ status: HCIStatus, _ connection: ConnectionHandle = 0) {
        let set = settings.advertisers[slot]
        send(
            LEAdvertisingSetTerminated(
                status: status, advertisingHandle: set.parameters.advertisingHandle, connectionHandle: connection,
                numCompletedExtendedAdvertisingEvents: set.maximumEvents == 0 ? 0 : set.sentEvents))
    }
}

extension AdvertisingState {
    /// Whether this kind of advertising can carry the advertising data.
    fileprivate func takes(_ data: [UInt8]) -> Bool {
        isLegacy ? data.count <= (isDirected ? 0 : 31) : !isScannable || data.isEmpty
    }

    /// Whether this kind of advertising can carry the scan response data.
    fileprivate func takes(response data: [UInt8]) -> Bool {
        (isScannable || data.isEmpty) && (!isLegacy || data.count <= 31)
    }

    /// Whether the data can be sent, because connectable advertising must not be chained (Core 5.4, Vol 6, Part B,
    /// 2.3.4.5).
    fileprivate func isSendable(_ data: [UInt8]) -> Bool {
        !isConnectable || data.count <= VirtualController.longestAuxiliaryData
    }
}

extension LESetExtendedAdvertisingParameters {
    /// Whether the parameters are valid (Vol 4, Part E, 7.8.53).
    fileprivate var isValid: Bool {
        let shortest = LESlots(rawValue: 0x20)
        guard
            properties.contains(.highDutyCycle)
                || primaryIntervalMin >= shortest && primaryIntervalMin <= primaryIntervalMax,
            !primaryChannelMap.intersection(.all).isEmpty, advertisingSID <= 0x0F, primaryPHY != .le2M
        else { return false }
        if properties.contains(.legacy) {
            return primaryPHY == .le1M && [0x13, 0x15, 0x1D, 0x12, 0x10].contains(properties.rawValue)
        }
        return !properties.contains([.connectable, .scannable]) && !properties.contains(.highDutyCycle)
            && (!properties.contains(.anonymous) || properties.isDisjoint(with: [.connectable, .scannable]))
    }
}
