import BluetoothBase
import BluetoothHCI

extension AirTimer {
    /// The next event, or part of one, of the periodic advertising of a set.
    static func periodic(_ controller: Int, _ slot: Int) -> AirTimer {
        AirTimer(.periodic, of: controller * (VirtualController.maximumSets + 1) + slot)
    }

    /// The advertising set that the timer belongs to.
    var periodic: (controller: Int, slot: Int) {
        let count = VirtualController.maximumSets + 1
        return (index / count, index % count)
    }

    /// The instant at which synchronization counts as lost.
    static func sync(_ controller: Int, _ place: Int) -> AirTimer {
        AirTimer(.sync, of: controller * Synchronizer.maximumSyncs + place)
    }

    var sync: (controller: Int, place: Int) { (index / Synchronizer.maximumSyncs, index % Synchronizer.maximumSyncs) }
}

/// Periodic advertising and its receivers (Core 5.4, Vol 6, Part B, 4.4.2.12 and 4.4.5).
extension Air {
    mutating func performPeriodicCommand(
        _ command: borrowing HCICommandPacket, on index: Int, at now: Instant
    ) throws(DecodingFailure) {
        let opcode = command.opcode
        switch opcode {
        case .leSetPeriodicAdvertisingEnable:
            controllers[index].complete(opcode, enablePeriodic(try command.decode(), on: index, at: now))
        case .lePeriodicAdvertisingCreateSync:
            controllers[index].acknowledge(opcode, controllers[index].createSync(try command.decode()))
        case .lePeriodicAdvertisingCreateSyncCancel:
            guard let request = controllers[index].settings.synchronizer.request else {
                return controllers[index].complete(opcode, .commandDisallowed)
            }
            if let place = controllers[index].settings.synchronizer.requested { endSync(place, on: index) }
            controllers[index].endRequest()
            controllers[index].complete(opcode, .success)
            controllers[index].reportSyncFailure(.operationCancelledByHost, of: request)
        case .lePeriodicAdvertisingTerminateSync:
            let handle = try command.decode(as: LEPeriodicAdvertisingTerminateSync.self).syncHandle
            guard let place = controllers[index].settings.synchronizer.place(of: handle) else {
                return controllers[index].complete(opcode, .unknownAdvertisingIdentifier)
            }
            endSync(place, on: index)
            controllers[index].complete(opcode, .success)
        case .leSetPeriodicAdvertisingResponseData:
            let response = try command.decode(as: LESetPeriodicAdvertisingResponseData.self)
            controllers[index].complete(
                LESetPeriodicAdvertisingResponseData.self, respond(response, on: index, at: now),
                returning: .init(syncHandle: response.syncHandle))
        case .lePeriodicAdvertisingSyncTransfer, .lePeriodicAdvertisingSetInfoTransfer,
            .leSetPeriodicAdvertisingSyncTransferParameters:
            try performTransferCommand(command, on: index, at: now)
        default: try controllers[index].changePeriodic(command)
        }
    }

    // MARK: - Sending

    private mutating func enablePeriodic(
        _ command: LESetPeriodicAdvertisingEnable, on index: Int, at now: Instant
    ) -> HCIStatus {
        guard let slot = controllers[index].slot(of: command.advertisingHandle) else {
            return .unknownAdvertisingIdentifier
        }
        guard command.enabling.contains(.enabled) else {
            controllers[index].settings.advertisers[slot].periodic.isEnabled = false
            controllers[index].settings.advertisers[slot].periodic.number = nil
            schedule.set(.periodic(index, slot), to: nil)
            return .success
        }
        let status = controllers[index].mayEnablePeriodic(slot, command.enabling)
        guard status == .success else { return status }
        controllers[index].settings.advertisers[slot].periodic.isEnabled = true
        controllers[index].settings.advertisers[slot].periodic.includesADI = command.enabling.contains(.includesADI)
        if controllers[index].settings.advertisers[slot].isEnabled { startTrain(index, slot, at: now) }
        return .success
    }

    /// Starts the periodic advertising of a set if it is enabled. It continues even if the set is disabled later (Vol
    /// 4, Part E, 7.8.63).
    mutating func startTrain(_ index: Int, _ slot: Int, at now: Instant) {
        let train = controllers[index].settings.advertisers[slot].periodic
        guard train.isEnabled, !train.isOnAir else { return }
        let start = now.advanced(by: train.interval.duration)
        controllers[index].settings.advertisers[slot].periodic.number = UInt32(
            truncatingIfNeeded: controllers[index].generator.next())
        controllers[index].settings.advertisers[slot].periodic.eventCounter = 0
        controllers[index].settings.advertisers[slot].periodic.eventStart = start
        controllers[index].settings.advertisers[slot].periodic.phase = .send(0)
        controllers[index].settings.advertisers[slot].periodic.subevents.removeAll()
        schedule.set(.periodic(index, slot), to: start)
        if train.subeventCount > 0 { controllers[index].requestSubevents(of: slot, from: 0) }
    }

    /// Sends the periodic advertising that is due to all synchronized receivers.
    mutating func advertisePeriodically(_ index: Int, _ slot: Int, at time: Instant) {
        guard slot < controllers[index].settings.advertisers.count else { return }
        let set = controllers[index].settings.advertisers[slot]
        guard let number = set.periodic.number else { return }
        let train = TrainID(controller: index, slot: slot, number: number)
        guard set.periodic.subeventCount == 0 else { return advanceSubevents(of: train, at: time) }
        for receiver in controllers.indices {
            guard let (place, rssi) = receive(train, at: receiver, at: time) else { continue }
            let identifier = set.periodic.includesADI ? set.periodic.dataIdentifier : nil
            guard controllers[receiver].admitsReport(place, of: identifier) else { continue }
            controllers[receiver].reportPeriodic(
                place, set, set.periodic.data,
                .init(eventCounter: set.periodic.eventCounter, number: 0xFF), rssi: rssi)
        }
        controllers[index].settings.advertisers[slot].periodic.eventCounter &+= 1
        controllers[index].settings.advertisers[slot].periodic.eventStart = time.advanced(
            by: set.periodic.interval.duration)
        schedule.set(.periodic(index, slot), to: controllers[index].settings.advertisers[slot].periodic.eventStart)
    }

    /// The periodic advertising with an identifier. Nil if it has ended or its controller was reset, which receivers
    /// that are synchronized to it, or were informed of it, have yet to notice.
    func train(_ name: TrainID) -> PeriodicTrain? {
        let sets = controllers[name.controller].settings.advertisers
        guard sets.indices.contains(name.slot), sets[name.slot].periodic.number == name.number else { return nil }
        return sets[name.slot].periodic
    }

    // MARK: - Receiving

    /// Delivers the announcement of periodic advertising to a scanner, which synchronizes if its host requested that.
    mutating func findTrain(
        of set: AdvertisingState, _ advertiser: Int, _ slot: Int, _ address: DeviceAddress, by scanner: Int,
        at time: Instant
    ) {
        guard let number = set.periodic.number, let request = controllers[scanner].settings.synchronizer.request,
            controllers[scanner].settings.scanner.listening(for: set, at: time) != nil,
            controllers[scanner].configuration.receives(set.dataPHY), rssi(from: advertiser, at: scanner) != nil,
            let device = controllers[scanner].device(at: address),
            controllers[scanner].settings.synchronizer.wants(
                device.lastingAddress, set.parameters.advertisingSID)
        else { return }
        let announcement = TrainAnnouncement(
            train: TrainID(controller: advertiser, slot: slot, number: number), address: address,
            advertisingSID: set.parameters.advertisingSID, phy: set.dataPHY, interval: set.periodic.interval)
        let sync = Synchronizer.Sync(
            announcement: announcement, address: device.reportedAddress, timeout: request.timeout.duration,
            reporting: PeriodicReporting(request.options))
        controllers[scanner].settings.synchronizer.requested = follow(sync, at: scanner, at: time)
    }

    /// Starts synchronizing to periodic advertising.
    ///
    /// - Returns: the place of the new sync; nil if no place is free, the receiver already follows this train, or its
    ///   host does not support subevents that the train has.
    mutating func follow(_ sync: Synchronizer.Sync, at receiver: Int, at now: Instant) -> Int? {
        let train = sync.announcement.train
        let hasSubevents = self.train(train).map { $0.subeventCount > 0 } ?? false
        guard !controllers[receiver].settings.synchronizer.follows(train),
            !hasSubevents || controllers[receiver].wants(.periodicAdvertisingSyncEstablishedV2),
            let place = controllers[receiver].settings.synchronizer.syncs.firstIndex(where: { $0 == nil })
        else { return nil }
        controllers[receiver].settings.synchronizer.syncs[place] = sync
        // Synchronization fails if six events pass without a packet (Vol 6, Part B, 4.4.5.1).
        let patience = sync.announcement.interval.duration * 6 + .microseconds(500)
        schedule.set(.sync(receiver, place), to: now.advanced(by: patience))
        return place
    }

    /// Delivers a packet of periodic advertising to a receiver, if it is in range and synchronized.
    ///
    /// - Returns: the place of the receiver's sync, and the signal strength; nil if the packet is not received.
    mutating func receive(_ train: TrainID, at receiver: Int, at time: Instant) -> (place: Int, rssi: Int8)? {
        guard let rssi = rssi(from: train.controller, at: receiver),
            let place = controllers[receiver].settings.synchronizer.syncs.firstIndex(where: {
                $0?.announcement.train == train
            }), let sync = controllers[receiver].settings.synchronizer.syncs[place]
        else { return nil }
        schedule.set(.sync(receiver, place), to: time.advanced(by: sync.timeout))
        if !sync.isEstablished {
            controllers[receiver].settings.synchronizer.syncs[place]?.isEstablished = true
            if controllers[receiver].settings.synchronizer.requested == place { controllers[receiver].endRequest() }
            controllers[receiver].reportSync(place, sync, self.train(train) ?? PeriodicTrain())
        }
        return (place, rssi)
    }

    /// No packet was received within the timeout.
    mutating func loseSync(_ index: Int, _ place: Int) {
        let synchronizer = controllers[index].settings.synchronizer
        guard place < synchronizer.syncs.count, let sync = synchronizer.syncs[place] else { return }
        endSync(place, on: index)
        if sync.isEstablished {
            controllers[index].send(LEPeriodicAdvertisingSyncLost(syncHandle: Synchronizer.handle(of: place)))
        } else if sync.connection != nil {
            controllers[index].reportTransfer(.connectionFailedToBeEstablished, 0, sync, PeriodicTrain())
        } else if synchronizer.requested == place, let request = synchronizer.request {
            controllers[index].endRequest()
            controllers[index].reportSyncFailure(.connectionFailedToBeEstablished, of: request)
        }
    }

    private mutating func endSync(_ place: Int, on index: Int) {
        controllers[index].settings.synchronizer.syncs[place] = nil
        schedule.set(.sync(index, place), to: nil)
    }
}
