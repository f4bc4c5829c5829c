import BluetoothBase
import BluetoothHCI

/// The commands for periodic advertising that affect only the controller (Core 5.4, Vol 4, Part E, 7.8.61 to 7.8.73).
extension VirtualController {
    mutating func changePeriodic(_ command: borrowing HCICommandPacket) throws(DecodingFailure) {
        let opcode = command.opcode
        switch opcode {
        case .leSetPeriodicAdvertisingParameters:
            complete(opcode, setPeriodicParameters(.init(try command.decode())))
        case .leSetPeriodicAdvertisingParametersV2:
            let parameters = try command.decode(as: LESetPeriodicAdvertisingParametersV2.self)
            complete(
                LESetPeriodicAdvertisingParametersV2.self, setPeriodicParameters(parameters),
                returning: .init(advertisingHandle: parameters.advertisingHandle))
        case .leSetPeriodicAdvertisingData: complete(opcode, setPeriodicData(try command.decode()))
        case .leSetPeriodicAdvertisingSubeventData:
            let data = try command.decode(as: LESetPeriodicAdvertisingSubeventData.self)
            complete(
                LESetPeriodicAdvertisingSubeventData.self, setSubeventData(data),
                returning: .init(advertisingHandle: data.advertisingHandle))
        case .leAddDeviceToPeriodicAdvertiserList:
            let device = try command.decode(as: LEAddDeviceToPeriodicAdvertiserList.self)
            complete(opcode, add(device))
        case .leRemoveDeviceFromPeriodicAdvertiserList:
            let device = try command.decode(as: LERemoveDeviceFromPeriodicAdvertiserList.self)
            complete(opcode, remove(device))
        case .leClearPeriodicAdvertiserList:
            guard settings.synchronizer.request == nil else { return complete(opcode, .commandDisallowed) }
            settings.synchronizer.list.removeAll()
            complete(opcode, .success)
        case .leReadPeriodicAdvertiserListSize:
            complete(
                LEReadPeriodicAdvertiserListSize.self, returning: .init(size: configuration.periodicAdvertiserListSize))
        case .leSetPeriodicAdvertisingReceiveEnable: complete(opcode, setReporting(try command.decode()))
        case .leSetPeriodicSyncSubevent:
            let choice = try command.decode(as: LESetPeriodicSyncSubevent.self)
            complete(
                LESetPeriodicSyncSubevent.self, chooseSubevents(choice),
                returning: .init(syncHandle: choice.syncHandle))
        case .leSetDefaultPeriodicAdvertisingSyncTransferParameters:
            let wanted = try command.decode(as: LESetDefaultPeriodicAdvertisingSyncTransferParameters.self)
            guard SyncTransferParameters.areValid(wanted.mode, skip: wanted.skip, wanted.timeout) else {
                return complete(opcode, .invalidCommandParameters)
            }
            settings.synchronizer.transfer = SyncTransferParameters(mode: wanted.mode, timeout: wanted.timeout)
            complete(opcode, .success)
        default: acknowledge(opcode, .unknownCommand)
        }
    }

    // MARK: - Advertising

    private mutating func setPeriodicParameters(_ parameters: LESetPeriodicAdvertisingParametersV2) -> HCIStatus {
        guard let slot = slot(of: parameters.advertisingHandle) else { return .unknownAdvertisingIdentifier }
        guard settings.advertisers[slot].mayBePeriodic, parameters.isValid else { return .invalidCommandParameters }
        guard !settings.advertisers[slot].periodic.isEnabled else { return .commandDisallowed }
        settings.advertisers[slot].periodic.parameters = parameters
        return .success
    }

    private mutating func setPeriodicData(_ command: LESetPeriodicAdvertisingData) -> HCIStatus {
        guard let slot = slot(of: command.advertisingHandle) else { return .unknownAdvertisingIdentifier }
        let train = settings.advertisers[slot].periodic
        guard train.isSetUp, train.subeventCount == 0 else { return .commandDisallowed }
        if command.operation == .unchanged {
            guard train.isEnabled, train.includesADI, command.data.isEmpty else { return .invalidCommandParameters }
            settings.advertisers[slot].periodic.dataIdentifier &+= 1
            return .success
        }
        let isComplete = command.operation == .complete
        let isFirst = isComplete || command.operation == .first
        guard isComplete || !train.isEnabled else { return .commandDisallowed }
        guard isComplete || !command.data.isEmpty, isFirst || train.unfinishedData != nil else {
            return .invalidCommandParameters
        }
        let data = (isFirst ? [] : train.unfinishedData ?? []) + command.data
        guard data.count <= Int(configuration.maximumAdvertisingDataLength) else { return .memoryCapacityExceeded }
        guard isComplete || command.operation == .last else {
            settings.advertisers[slot].periodic.unfinishedData = data
            return .success
        }
        settings.advertisers[slot].periodic.unfinishedData = nil
        settings.advertisers[slot].periodic.data = data
        settings.advertisers[slot].periodic.dataIdentifier &+= 1
        return .success
    }

    /// The reason why periodic advertising cannot be enabled; success if it can.
    func mayEnablePeriodic(_ slot: Int, _ enabling: PeriodicAdvertisingEnabling) -> HCIStatus {
        let train = settings.advertisers[slot].periodic
        guard train.isSetUp, train.unfinishedData == nil else { return .commandDisallowed }
        return enabling.isSubset(of: [.enabled, .includesADI]) ? .success : .invalidCommandParameters
    }

    private mutating func setSubeventData(_ command: LESetPeriodicAdvertisingSubeventData) -> HCIStatus {
        guard let slot = slot(of: command.advertisingHandle) else { return .unknownAdvertisingIdentifier }
        let train = settings.advertisers[slot].periodic
        guard let parameters = train.parameters, train.subeventCount > 0, train.isEnabled else {
            return .commandDisallowed
        }
        let slots = Int(parameters.responseSlotCount)
        let fits = command.subevents.allSatisfy {
            $0.number < train.subeventCount && Int($0.responseSlotStart) + Int($0.responseSlotCount) <= slots
        }
        guard !command.subevents.isEmpty, fits else { return .invalidCommandParameters }
        for subevent in command.subevents {
            settings.advertisers[slot].periodic.subevents[subevent.number] = subevent
        }
        return .success
    }

    /// Requests the data of the next subevents from the host.
    mutating func requestSubevents(of slot: Int, from first: UInt8) {
        let set = settings.advertisers[slot]
        let count = min(PeriodicTrain.requestedSubevents, set.periodic.subeventCount - first)
        send(
            LEPeriodicAdvertisingSubeventDataRequest(
                advertisingHandle: set.parameters.advertisingHandle, subeventStart: first, subeventDataCount: count))
    }

    // MARK: - Receiving

    private mutating func add(_ device: LEAddDeviceToPeriodicAdvertiserList) -> HCIStatus {
        let entry = Synchronizer.Entry(
            address: device.advertiserAddress.unresolved, advertisingSID: device.advertisingSID)
        guard settings.synchronizer.request == nil else { return .commandDisallowed }
        guard device.advertisingSID <= 0x0F, !settings.synchronizer.list.contains(entry) else {
            return .invalidCommandParameters
        }
        guard settings.synchronizer.list.count < settings.synchronizer.listCapacity else {
            return .memoryCapacityExceeded
        }
        settings.synchronizer.list.append(entry)
        return .success
    }

    private mutating func remove(_ device: LERemoveDeviceFromPeriodicAdvertiserList) -> HCIStatus {
        let entry = Synchronizer.Entry(
            address: device.advertiserAddress.unresolved, advertisingSID: device.advertisingSID)
        guard settings.synchronizer.request == nil else { return .commandDisallowed }
        guard let place = settings.synchronizer.list.firstIndex(of: entry) else { return .unknownAdvertisingIdentifier }
        settings.synchronizer.list.remove(at: place)
        return .success
    }

    private mutating func setReporting(_ command: LESetPeriodicAdvertisingReceiveEnable) -> HCIStatus {
        guard let place = settings.synchronizer.place(of: command.syncHandle) else {
            return .unknownAdvertisingIdentifier
        }
        guard command.reporting.isSubset(of: [.enabled, .filtersDuplicates]) else { return .invalidCommandParameters }
        settings.synchronizer.syncs[place]?.reporting = command.reporting
        settings.synchronizer.syncs[place]?.reportedIdentifier = nil
        return .success
    }

    private mutating func chooseSubevents(_ command: LESetPeriodicSyncSubevent) -> HCIStatus {
        guard let place = settings.synchronizer.place(of: command.syncHandle) else {
            return .unknownAdvertisingIdentifier
        }
        guard !command.subevents.isEmpty, Set(command.subevents).count == command.subevents.count,
            command.subevents.allSatisfy({ $0 <= 0x7F })
        else { return .invalidCommandParameters }
        settings.synchronizer.syncs[place]?.subevents = command.subevents
        return .success
    }
}
