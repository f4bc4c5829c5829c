import BluetoothBase
import BluetoothHCI

extension Air {
    /// Delivers an advertising event to a scanner, and its scan response if the scanner requests it (Core 5.4, Vol 6,
    /// Part B, 4.4.3).
    mutating func report(
        _ advertisement: AdvertisingState, from advertiser: Int, _ address: DeviceAddress, to scanner: Int,
        at time: Instant
    ) {
        let state = controllers[scanner].settings.scanner
        guard let listening = state.listening(for: advertisement, at: time),
            controllers[scanner].configuration.receives(advertisement.dataPHY),
            let rssi = measuredRSSI(from: advertiser, at: scanner),
            let device = controllers[scanner].device(at: address),
            !state.usesFilterAcceptList
                || controllers[scanner].settings.filterAcceptList.contains(
                    advertisement.isAnonymous ? nil : device.lastingAddress),
            let ownAddress = controllers[scanner].ownAddress(state.ownAddressType, towards: device.lastingAddress),
            !advertisement.isDirected
                || controllers[scanner].isAddressed(
                    by: controllers[advertiser].targetAddress(of: advertisement), from: device, state.ownAddressType)
        else { return }
        let target = advertisement.isDirected ? controllers[advertiser].targetAddress(of: advertisement) : nil
        controllers[scanner].report(advertisement, by: device, for: target, isResponse: false, rssi: rssi, at: time)

        guard listening.type == .active, advertisement.isScannable,
            self.rssi(from: scanner, at: advertiser) != nil,
            let asking = controllers[advertiser].device(at: ownAddress),
            !advertisement.filtersScanRequests
                || controllers[advertiser].settings.filterAcceptList.contains(asking.lastingAddress)
        else { return }
        if advertisement.parameters.notifiesScanRequests {
            controllers[advertiser].send(
                LEScanRequestReceived(
                    advertisingHandle: advertisement.parameters.advertisingHandle,
                    scannerAddress: asking.reportedAddress))
        }
        controllers[scanner].report(advertisement, by: device, for: nil, isResponse: true, rssi: rssi, at: time)
    }

    /// Ends a scan that has a duration and no period.
    mutating func endScan(_ index: Int) {
        guard controllers[index].isScanning else { return }
        controllers[index].settings.scanner.isEnabled = false
        controllers[index].send(LEScanTimeout())
    }
}
