import BluetoothBase
import BluetoothHCI

extension VirtualController {
    /// Performs a command that affects only this controller. Commands that affect the air are in `Air+Commands.swift`.
    mutating func perform(_ command: borrowing HCICommandPacket) throws(DecodingFailure) {
        switch command.opcode {
        case .readLocalVersionInformation, .readLocalSupportedCommands, .readLocalSupportedFeatures, .readBufferSize,
            .readBDADDR, .leReadBufferSize, .leReadLocalSupportedFeatures, .leReadAdvertisingPhysicalChannelTxPower,
            .leReadSupportedStates, .leReadTransmitPower, .leReadFilterAcceptListSize, .leReadResolvingListSize,
            .leReadMaximumDataLength:
            try answerInformation(command)
        case .leClearFilterAcceptList, .leAddDeviceToFilterAcceptList, .leRemoveDeviceFromFilterAcceptList,
            .leAddDeviceToResolvingList, .leRemoveDeviceFromResolvingList, .leClearResolvingList,
            .leSetAddressResolutionEnable, .leSetResolvablePrivateAddressTimeout, .leSetPrivacyMode:
            complete(command.opcode, try changeLists(command))
        case .leReadSuggestedDefaultDataLength:
            complete(LEReadSuggestedDefaultDataLength.self, returning: .init(transmit: settings.suggestedDataLength))
        case .leRand:
            complete(LERand.self, returning: .init(randomNumber: generator.next()))
        case .leEncrypt:
            let block = try command.decode(as: LEEncrypt.self)
            guard let aesEncrypt = configuration.aesEncrypt else { return acknowledge(command.opcode, .unknownCommand) }
            complete(LEEncrypt.self, returning: .init(encryptedData: aesEncrypt(block.key, block.plaintext)))
        default:
            complete(command.opcode, try changeSettings(command))
        }
    }

    private mutating func changeSettings(_ command: borrowing HCICommandPacket) throws(DecodingFailure) -> HCIStatus {
        switch command.opcode {
        case .setEventMask:
            settings.eventMask = try command.decode(as: SetEventMask.self).eventMask
        case .setEventMaskPage2:
            // None of the events on that page are implemented.
            _ = try command.decode(as: SetEventMaskPage2.self)
        case .leSetEventMask:
            settings.leEventMask = try command.decode(as: LESetEventMask.self).eventMask
        case .setControllerToHostFlowControl:
            let flowControl = try command.decode(as: SetControllerToHostFlowControl.self).flowControl
            guard flowControl.isSubset(of: [.acl, .synchronous]) else { return .invalidCommandParameters }
            // The host may still hold packets of these connections that were never counted (7.3.38).
            guard connectionCount == 0 else { return .commandDisallowed }
            settings.hostBuffers.isFlowControlled = flowControl.contains(.acl)
        case .hostBufferSize:
            return settings.hostBuffers.resize(try command.decode()) ? .success : .invalidCommandParameters
        case .leSetRandomAddress:
            let address = try command.decode(as: LESetRandomAddress.self).address
            guard !isAdvertising, !isScanning, !isInitiating else { return .commandDisallowed }
            settings.randomAddress = address
        case .leSetAdvertisingParameters:
            return setAdvertisingParameters(try command.decode())
        case .leSetAdvertisingData:
            settings.advertiser.data = try command.decode(as: LESetAdvertisingData.self).data
        case .leSetScanResponseData:
            settings.advertiser.scanResponseData = try command.decode(as: LESetScanResponseData.self).data
        case .leSetScanParameters:
            return setScanParameters(try command.decode())
        case .leSetHostChannelClassification:
            let map = try command.decode(as: LESetHostChannelClassification.self).channelMap
            guard map.rawValue.nonzeroBitCount >= 2 else { return .invalidCommandParameters }
            settings.channelMap = map
        case .leWriteSuggestedDefaultDataLength:
            let length = try command.decode(as: LEWriteSuggestedDefaultDataLength.self).transmit
            guard length.isValid else { return .invalidCommandParameters }
            settings.suggestedDataLength = length
        case .leSetDefaultPHY:
            // A preference. This controller never starts a PHY update itself.
            _ = try command.decode(as: LESetDefaultPHY.self)
        default:
            return .unknownCommand
        }
        return .success
    }

    private mutating func setAdvertisingParameters(_ parameters: LESetAdvertisingParameters) -> HCIStatus {
        guard !isAdvertising else { return .commandDisallowed }
        let isHighDuty = parameters.type == .connectableDirectedHighDutyCycle
        let intervals = LESlots(rawValue: 0x0020)...LESlots(rawValue: 0x4000)
        guard
            isHighDuty
                || intervals.contains(parameters.intervalMin) && intervals.contains(parameters.intervalMax)
                    && parameters.intervalMin <= parameters.intervalMax,
            !parameters.channelMap.intersection(.all).isEmpty
        else { return .invalidCommandParameters }
        settings.advertiser.parameters = LESetExtendedAdvertisingParameters(parameters)
        return .success
    }

    private mutating func setScanParameters(_ parameters: LESetScanParameters) -> HCIStatus {
        guard !isScanning else { return .commandDisallowed }
        let timing = ScanTiming(interval: parameters.interval, window: parameters.window)
        guard timing.isValid else { return .invalidCommandParameters }
        settings.scanner.le1M = ScanningState.Listening(type: parameters.type, timing: timing)
        settings.scanner.ownAddressType = parameters.ownAddressType
        settings.scanner.filterPolicy = parameters.filterPolicy
        return .success
    }
}

extension LEDataLength {
    /// A length with its time on the LE 1M PHY (Core 5.4, Vol 6, Part B, 4.5.10).
    init(octets: UInt16) {
        self.init(octets: octets, time: (octets + 14) * 8)
    }

    /// Whether a host may request it (Vol 4, Part E, 7.8.33).
    var isValid: Bool { (27...251).contains(octets) && (328...17040).contains(time) }
}
