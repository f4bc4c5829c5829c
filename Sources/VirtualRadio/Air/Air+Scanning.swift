import BluetoothBase
import BluetoothHCI

extension Air {
    /// Delivers an advertising event to a scanner, and its scan response if the scanner requests it (Core 5.4, Vol 6,
    /// Part B, 4.4.3).
    mutating func report(
        _ advertisement: Advertiser, from advertiser: Int, _ address: DeviceAddress, to scanner: Int, at time: Instant
    ) {
        let state = controllers[scanner].settings.scanner
        let parameters = advertisement.parameters
        guard state.isEnabled, state.timing.receives(parameters.channelMap, at: time, since: state.start),
            let rssi = rssi(from: advertiser, at: scanner),
            let device = controllers[scanner].device(at: address),
            !state.usesFilterAcceptList
                || controllers[scanner].settings.filterAcceptList.contains(device.lastingAddress),
            let ownAddress = controllers[scanner].ownAddress(state.ownAddressType, towards: device.lastingAddress),
            !parameters.type.isDirected
                || controllers[scanner].isAddressed(
                    by: controllers[advertiser].targetAddress, from: device, state.ownAddressType)
        else { return }
        let data = parameters.type.isDirected ? [] : advertisement.data
        controllers[scanner].reportAdvertisement(
            parameters.type.reportedAs, device.reportedAddress, data, rssi: rssi)

        guard state.type == .active, parameters.type.isScannable, self.rssi(from: scanner, at: advertiser) != nil,
            let asking = controllers[advertiser].device(at: ownAddress),
            !advertisement.filtersScanRequests
                || controllers[advertiser].settings.filterAcceptList.contains(asking.lastingAddress)
        else { return }
        controllers[scanner].reportAdvertisement(
            .scanResponse, device.reportedAddress, advertisement.scanResponseData, rssi: rssi)
    }
}
