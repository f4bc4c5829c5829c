import BluetoothBase
import BluetoothHCI

/// Periodic Advertising Sync Transfer (Core 5.4, Vol 6, Part B, 5.1.13).
extension Air {
    /// The maximum number of transfers in progress over a link from either end.
    private static let maximumTransfers = 8

    mutating func performTransferCommand(
        _ command: borrowing HCICommandPacket, on index: Int, at now: Instant
    ) throws(DecodingFailure) {
        switch command.opcode {
        case .lePeriodicAdvertisingSyncTransfer:
            let transfer = try command.decode(as: LEPeriodicAdvertisingSyncTransfer.self)
            let status = self.transfer(transfer, on: index, at: now)
            controllers[index].complete(command.opcode, status, transfer.connectionHandle)
        case .lePeriodicAdvertisingSetInfoTransfer:
            let transfer = try command.decode(as: LEPeriodicAdvertisingSetInfoTransfer.self)
            let status = self.transfer(transfer, on: index, at: now)
            controllers[index].complete(command.opcode, status, transfer.connectionHandle)
        default:
            let wanted = try command.decode(as: LESetPeriodicAdvertisingSyncTransferParameters.self)
            controllers[index].complete(command.opcode, setTransfer(wanted, on: index), wanted.connectionHandle)
        }
    }

    private mutating func setTransfer(
        _ wanted: LESetPeriodicAdvertisingSyncTransferParameters, on index: Int
    ) -> HCIStatus {
        guard let (link, role) = find(wanted.connectionHandle, on: index) else { return .unknownConnectionIdentifier }
        guard SyncTransferParameters.areValid(wanted.mode, skip: wanted.skip, wanted.timeout) else {
            return .invalidCommandParameters
        }
        links[link][role].syncTransfer = SyncTransferParameters(mode: wanted.mode, timeout: wanted.timeout)
        return .success
    }

    private mutating func transfer(
        _ command: LEPeriodicAdvertisingSyncTransfer, on index: Int, at now: Instant
    ) -> HCIStatus {
        guard let (link, role) = find(command.connectionHandle, on: index) else { return .unknownConnectionIdentifier }
        guard let place = controllers[index].settings.synchronizer.place(of: command.syncHandle),
            var announcement = controllers[index].settings.synchronizer.syncs[place]?.announcement
        else { return .unknownAdvertisingIdentifier }
        announcement.serviceData = command.serviceData
        return send(announcement, over: link, from: role, at: now)
    }

    private mutating func transfer(
        _ command: LEPeriodicAdvertisingSetInfoTransfer, on index: Int, at now: Instant
    ) -> HCIStatus {
        guard let (link, role) = find(command.connectionHandle, on: index) else { return .unknownConnectionIdentifier }
        guard let slot = controllers[index].slot(of: command.advertisingHandle) else {
            return .unknownAdvertisingIdentifier
        }
        let set = controllers[index].settings.advertisers[slot]
        guard let number = set.periodic.number, let address = controllers[index].address(of: set) else {
            return .commandDisallowed
        }
        let announcement = TrainAnnouncement(
            train: TrainID(controller: index, slot: slot, number: number), address: address,
            advertisingSID: set.parameters.advertisingSID, phy: set.dataPHY, interval: set.periodic.interval,
            serviceData: command.serviceData)
        return send(announcement, over: link, from: role, at: now)
    }

    private mutating func send(
        _ announcement: TrainAnnouncement, over link: Int, from role: LinkRole, at now: Instant
    ) -> HCIStatus {
        let peer = controllers[links[link][role.other].controller].configuration
        guard peer.exchangedFeatures.contains(.periodicAdvertisingSyncTransferRecipient) else {
            return .unsupportedRemoteFeature
        }
        let underWay = links[link].procedures.count {
            if case .periodicSync = $0.step { $0.initiator == role } else { false }
        }
        guard underWay < Self.maximumTransfers else { return .memoryCapacityExceeded }
        links[link].schedule(
            .periodicSync(announcement), from: role, at: links[link].event(after: now, for: role))
        reschedule(link)
        return .success
    }

    /// A peer has announced periodic advertising over a link.
    mutating func deliver(_ announcement: TrainAnnouncement, on link: Int, from role: LinkRole, at time: Instant) {
        let end = links[link][role.other]
        let index = end.controller
        let source = announcement.train
        guard end.syncTransfer.mode != .ignore, source.controller != index,
            controllers[index].configuration.receives(announcement.phy),
            let device = controllers[index].device(at: announcement.address)
        else { return }
        let sync = Synchronizer.Sync(
            announcement: announcement, address: device.reportedAddress, timeout: end.syncTransfer.timeout.duration,
            connection: end.handle, reporting: end.syncTransfer.reporting)
        _ = follow(sync, at: index, at: time)
    }
}
