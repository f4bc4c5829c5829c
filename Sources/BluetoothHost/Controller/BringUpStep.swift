import BluetoothBase
import BluetoothHCI

/// The steps of bringing up a controller, in this order. Each sends one command.
enum BringUpStep: UInt8, CaseIterable, Sendable {
    case reset
    case readLocalVersionInformation
    case readLocalSupportedCommands
    case readLocalSupportedFeatures
    case readBDADDR
    case setEventMask
    case writeLEHostSupport
    case leSetEventMask
    case leReadLocalSupportedFeatures
    case leReadBufferSizeV2
    case leReadBufferSize
    case readBufferSize
    case hostBufferSize
    case setControllerToHostFlowControl
    case leReadFilterAcceptListSize
    case leReadMaximumDataLength
    case leWriteSuggestedDefaultDataLength
    case leReadResolvingListSize
    case leReadMaximumAdvertisingDataLength
    case leReadNumberOfSupportedAdvertisingSets
    case leSetRandomAddress

    /// Whether a controller that refuses this step cannot be used. The host does without the other steps.
    var isEssential: Bool {
        switch self {
        case .reset, .leReadBufferSize, .readBufferSize, .leSetRandomAddress: true
        default: false
        }
    }

    /// The command of this step; nil if the step does not apply to the controller.
    ///
    /// - Parameters:
    ///   - address: the host's address.
    ///   - receiveBufferCount: the number of ACL packets that the host can hold; 0 for no limit.
    ///   - resolvesAddresses: whether the host may have keys that resolve private addresses.
    func command(
        for profile: ControllerProfile, _ address: DeviceAddress, receiveBufferCount: UInt16, resolvesAddresses: Bool
    ) -> (any HCICommand)? {
        let supported = profile.commands
        switch self {
        case .reset: return Reset()
        case .readLocalVersionInformation: return ReadLocalVersionInformation()
        case .readLocalSupportedCommands: return ReadLocalSupportedCommands()
        case .readLocalSupportedFeatures: return ReadLocalSupportedFeatures()
        case .readBDADDR: return ReadBDADDR()
        case .setEventMask: return SetEventMask(eventMask: .host)
        case .writeLEHostSupport:
            // Only a BR/EDR controller needs to know that its host supports LE (Vol 4, Part E, 7.3.79).
            guard profile.hasClassicRadio, supported.contains(.writeLEHostSupport) else { return nil }
            return WriteLEHostSupport(isLESupported: true)
        case .leSetEventMask: return LESetEventMask(eventMask: .host(for: profile))
        case .leReadLocalSupportedFeatures: return LEReadLocalSupportedFeatures()
        case .leReadBufferSizeV2: return supported.contains(.leReadBufferSizeV2) ? LEReadBufferSizeV2() : nil
        case .leReadBufferSize: return profile.hasBuffers ? nil : LEReadBufferSize()
        case .readBufferSize:
            // "0x0000: no dedicated LE buffer – use Read_Buffer_Size" (Vol 4, Part E, 7.8.2).
            return profile.hasBuffers ? nil : ReadBufferSize()
        case .hostBufferSize:
            guard receiveBufferCount > 0, profile.supportsReceiveFlowControl else { return nil }
            return HostBufferSize(
                aclDataPacketLength: ReceiveFlow.packetLength, totalACLDataPackets: receiveBufferCount)
        case .setControllerToHostFlowControl:
            // Allowed only while no connection exists (Vol 4, Part E, 7.3.38). Sent only if the controller has accepted
            // the buffer size.
            return profile.knowsHostBuffers ? SetControllerToHostFlowControl(flowControl: .acl) : nil
        case .leReadFilterAcceptListSize:
            return supported.contains(.leReadFilterAcceptListSize) ? LEReadFilterAcceptListSize() : nil
        case .leReadMaximumDataLength:
            guard profile.features.contains(.dataPacketLengthExtension), supported.contains(.leReadMaximumDataLength)
            else { return nil }
            return LEReadMaximumDataLength()
        case .leWriteSuggestedDefaultDataLength:
            guard profile.maximumDataLength.octets > 27, supported.contains(.leWriteSuggestedDefaultDataLength)
            else { return nil }
            return LEWriteSuggestedDefaultDataLength(transmit: profile.maximumDataLength)
        case .leReadResolvingListSize:
            return resolvesAddresses && profile.supportsPrivacy ? LEReadResolvingListSize() : nil
        case .leReadMaximumAdvertisingDataLength:
            return profile.supportsExtendedAdvertising ? LEReadMaximumAdvertisingDataLength() : nil
        case .leReadNumberOfSupportedAdvertisingSets:
            return profile.supportsExtendedAdvertising ? LEReadNumberOfSupportedAdvertisingSets() : nil
        case .leSetRandomAddress: return address.kind == .random ? LESetRandomAddress(address: address) : nil
        }
    }
}

extension EventMask {
    /// The events that this host handles.
    fileprivate static let host: EventMask = [
        .disconnectionComplete, .encryptionChange, .hardwareError, .dataBufferOverflow,
        .encryptionKeyRefreshComplete, .leMeta,
    ]
}

extension LEEventMask {
    /// The LE events that this host handles. All others stay masked.
    fileprivate static let host: LEEventMask = [
        .connectionComplete, .advertisingReport, .connectionUpdateComplete, .readRemoteFeaturesComplete,
        .longTermKeyRequest, .remoteConnectionParameterRequest, .dataLengthChange, .enhancedConnectionComplete,
        .phyUpdateComplete,
    ]

    /// The LE events in `host`, and those of commands that only some controllers support.
    fileprivate static func host(for profile: ControllerProfile) -> LEEventMask {
        var mask = host
        if profile.hasExtendedCommands {
            mask.formUnion([.extendedAdvertisingReport, .advertisingSetTerminated])
            mask.formUnion(.periodic(profile.commands))
        }
        if profile.commands.contains(.leSetPathLossReportingEnable) { mask.insert(.pathLossThreshold) }
        if profile.commands.contains(.leReadRemoteTransmitPowerLevel)
            || profile.commands.contains(.leSetTransmitPowerReportingEnable)
        {
            mask.insert(.transmitPowerReporting)
        }
        return mask
    }
}
