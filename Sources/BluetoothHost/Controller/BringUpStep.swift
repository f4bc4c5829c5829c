import BluetoothBase
import BluetoothHCI

/// The questions a controller is asked before it is used, in this order.
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

    /// Whether nothing can be done with a controller that refuses this. The rest is done without.
    var isEssential: Bool {
        switch self {
        case .reset, .leReadBufferSize, .readBufferSize, .leSetRandomAddress: true
        default: false
        }
    }

    /// The command of this step; nil where the step does not apply to the controller.
    ///
    /// - Parameters:
    ///   - address: the address the host uses.
    ///   - receiveBufferCount: how many ACL packets the host is to hold at once; 0 for no limit.
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
            // Only a controller that also does BR/EDR has to learn that its host knows LE (Vol 4, Part E, 7.3.79).
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
            // Only while there is no connection (Vol 4, Part E, 7.3.38), and only where the size was accepted.
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
        .longTermKeyRequest, .remoteConnectionParameterRequest, .dataLengthChange, .enhancedConnectionComplete,
        .phyUpdateComplete,
    ]

    /// The same, and those of commands that only some controllers have.
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
