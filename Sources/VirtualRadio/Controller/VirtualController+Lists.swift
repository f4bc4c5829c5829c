import BluetoothBase
import BluetoothHCI

extension VirtualController {
    /// Changes the filter accept list (Core 5.4, Vol 4, Part E, 7.8.14 to 7.8.17) or the resolving list (7.8.38 to
    /// 7.8.45, 7.8.77).
    ///
    /// The resolving list is maintained, but addresses are neither resolved nor generated; the controller does not
    /// report the corresponding LE feature.
    mutating func changeLists(_ command: borrowing HCICommandPacket) throws(DecodingFailure) -> HCIStatus {
        switch command.opcode {
        case .leClearFilterAcceptList:
            guard !usesFilterAcceptList else { return .commandDisallowed }
            settings.filterAcceptList.removeAll()
        case .leAddDeviceToFilterAcceptList:
            let address = try command.decode(as: LEAddDeviceToFilterAcceptList.self).address
            guard !usesFilterAcceptList else { return .commandDisallowed }
            return settings.filterAcceptList.insert(address) ? .success : .memoryCapacityExceeded
        case .leRemoveDeviceFromFilterAcceptList:
            let address = try command.decode(as: LERemoveDeviceFromFilterAcceptList.self).address
            guard !usesFilterAcceptList else { return .commandDisallowed }
            settings.filterAcceptList.remove(address)
        case .leAddDeviceToResolvingList:
            return addToResolvingList(try command.decode(as: LEAddDeviceToResolvingList.self).peerIdentityAddress)
        case .leRemoveDeviceFromResolvingList:
            let address = try command.decode(as: LERemoveDeviceFromResolvingList.self).peerIdentityAddress
            guard !usesResolvingList else { return .commandDisallowed }
            guard let entry = settings.resolvingList.firstIndex(of: address) else {
                return .unknownConnectionIdentifier
            }
            settings.resolvingList.remove(at: entry)
        case .leClearResolvingList:
            guard !usesResolvingList else { return .commandDisallowed }
            settings.resolvingList.removeAll()
        case .leSetAddressResolutionEnable:
            let isEnabled = try command.decode(as: LESetAddressResolutionEnable.self).isEnabled
            guard !isAdvertising, !isScanning, !isInitiating else { return .commandDisallowed }
            settings.isAddressResolutionEnabled = isEnabled
        case .leSetResolvablePrivateAddressTimeout:
            let timeout = try command.decode(as: LESetResolvablePrivateAddressTimeout.self).seconds
            guard (1...3600).contains(timeout) else { return .invalidCommandParameters }
        case .leSetPrivacyMode:
            let address = try command.decode(as: LESetPrivacyMode.self).peerIdentityAddress
            guard settings.resolvingList.contains(address) else { return .unknownConnectionIdentifier }
        default:
            return .unknownCommand
        }
        return .success
    }

    private mutating func addToResolvingList(_ address: DeviceAddress) -> HCIStatus {
        guard !usesResolvingList else { return .commandDisallowed }
        guard !settings.resolvingList.contains(address) else { return .invalidCommandParameters }
        guard settings.resolvingList.count < Int(configuration.resolvingListSize) else {
            return .memoryCapacityExceeded
        }
        settings.resolvingList.append(address)
        return .success
    }

    /// Whether the filter accept list must not change, because a current activity depends on it.
    private var usesFilterAcceptList: Bool {
        let advertiser = settings.advertiser
        return advertiser.isEnabled && (advertiser.filtersScanRequests || advertiser.filtersConnections)
            || settings.scanner.isEnabled && settings.scanner.usesFilterAcceptList
            || settings.initiator.map { $0.peer == nil } ?? false
    }

    private var usesResolvingList: Bool {
        settings.isAddressResolutionEnabled && (isAdvertising || isScanning || isInitiating)
    }
}
