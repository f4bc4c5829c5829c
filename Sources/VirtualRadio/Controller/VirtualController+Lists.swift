import BluetoothBase
import BluetoothHCI

extension VirtualController {
    /// Changes the filter accept list (Core 5.4, Vol 4, Part E, 7.8.14 to 7.8.17) or the resolving list (7.8.38 to
    /// 7.8.45, 7.8.77).
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
            let device = try command.decode(as: LEAddDeviceToResolvingList.self)
            return usesResolvingList ? .commandDisallowed : settings.resolvingList.insert(device)
        case .leRemoveDeviceFromResolvingList:
            let address = try command.decode(as: LERemoveDeviceFromResolvingList.self).peerIdentityAddress
            return usesResolvingList ? .commandDisallowed : settings.resolvingList.remove(address)
        case .leClearResolvingList:
            guard !usesResolvingList else { return .commandDisallowed }
            settings.resolvingList.removeAll()
        case .leSetAddressResolutionEnable:
            let isEnabled = try command.decode(as: LESetAddressResolutionEnable.self).isEnabled
            guard !isAdvertising, !isScanning, !isInitiating else { return .commandDisallowed }
            settings.resolvingList.isEnabled = isEnabled
        case .leSetResolvablePrivateAddressTimeout:
            let timeout = try command.decode(as: LESetResolvablePrivateAddressTimeout.self).seconds
            guard (1...3600).contains(timeout) else { return .invalidCommandParameters }
            settings.resolvingList.timeout = .seconds(Int(timeout))
        case .leSetPrivacyMode:
            let change = try command.decode(as: LESetPrivacyMode.self)
            return usesResolvingList ? .commandDisallowed : settings.resolvingList.setMode(change)
        default:
            return .unknownCommand
        }
        return .success
    }

    /// Whether the filter accept list must not change, because a current activity depends on it.
    private var usesFilterAcceptList: Bool {
        settings.advertisers.contains { $0.isEnabled && ($0.filtersScanRequests || $0.filtersConnections) }
            || settings.scanner.isEnabled && settings.scanner.usesFilterAcceptList
            || settings.initiator.map { $0.peerAddress == nil } ?? false
    }

    private var usesResolvingList: Bool {
        settings.resolvingList.isEnabled && (isAdvertising || isScanning || isInitiating)
    }
}
