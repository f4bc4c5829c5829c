import BluetoothBase
import BluetoothHCI

/// Periodic advertising with responses (Core 5.4, Vol 6, Part B, 4.4.2.12.2).
extension Air {
    /// Sends a subevent, or ends the response slots of one.
    mutating func advanceSubevents(of train: TrainID, at time: Instant) {
        let set = controllers[train.controller].settings.advertisers[train.slot]
        switch set.periodic.phase {
        case .collect(let subevent):
            collectResponses(to: subevent, of: train)
            proceed(after: subevent.number, of: train)
        case .send(let number):
            if connect(in: number, of: train, at: time) { return proceed(after: number, of: train) }
            guard let subevent = set.periodic.subevents[number] else { return proceed(after: number, of: train) }
            controllers[train.controller].settings.advertisers[train.slot].periodic.subevents[number] = nil
            for receiver in controllers.indices {
                guard controllers[receiver].listens(to: train, in: number),
                    let (place, rssi) = receive(train, at: receiver, at: time),
                    controllers[receiver].hasChosenSubevents(place)
                else { continue }
                controllers[receiver].reportPeriodic(
                    place, set, subevent.data, .init(eventCounter: set.periodic.eventCounter, number: number),
                    rssi: rssi)
            }
            guard subevent.responseSlotCount > 0 else { return proceed(after: number, of: train) }
            controllers[train.controller].settings.advertisers[train.slot].periodic.phase = .collect(subevent)
            let end = Int(subevent.responseSlotStart) + Int(subevent.responseSlotCount)
            schedule.set(
                .periodic(train.controller, train.slot), to: set.periodic.start(ofSlot: end, in: number))
        }
    }

    /// Schedules the next subevent, and requests data from the host for the subevents that follow.
    private mutating func proceed(after number: UInt8, of train: TrainID) {
        let index = train.controller, slot = train.slot
        let set = controllers[index].settings.advertisers[slot]
        let isLast = number + 1 >= set.periodic.subeventCount
        let next = isLast ? 0 : number + 1
        controllers[index].settings.advertisers[slot].periodic.phase = .send(next)
        if isLast {
            controllers[index].settings.advertisers[slot].periodic.eventCounter &+= 1
            controllers[index].settings.advertisers[slot].periodic.eventStart = set.periodic.eventStart.advanced(
                by: set.periodic.interval.duration)
        }
        schedule.set(
            .periodic(index, slot),
            to: controllers[index].settings.advertisers[slot].periodic.start(of: next))
        let isEndOfPart = isLast || (number + 1) % PeriodicTrain.requestedSubevents == 0
        guard isEndOfPart else { return }
        controllers[index].requestSubevents(of: slot, from: number - number % PeriodicTrain.requestedSubevents)
    }

    /// Stores the data to send in a response slot, if the slot is still to come.
    mutating func respond(
        _ response: LESetPeriodicAdvertisingResponseData, on index: Int, at now: Instant
    ) -> HCIStatus {
        guard let place = controllers[index].settings.synchronizer.place(of: response.syncHandle),
            let sync = controllers[index].settings.synchronizer.syncs[place]
        else { return .unknownAdvertisingIdentifier }
        guard let train = train(sync.announcement.train) else { return .success }
        guard let parameters = train.parameters, train.subeventCount > 0 else { return .commandDisallowed }
        guard response.responseSubevent < train.subeventCount, response.responseSlot < parameters.responseSlotCount
        else { return .invalidCommandParameters }
        guard response.requestEvent == train.eventCounter,
            train.start(ofSlot: Int(response.responseSlot), in: response.responseSubevent) > now
        else { return .tooLate }
        controllers[index].settings.synchronizer.syncs[place]?.responses.removeAll {
            $0.responseSubevent == response.responseSubevent
        }
        controllers[index].settings.synchronizer.syncs[place]?.responses.append(response)
        return .success
    }

    /// Reports the responses received in the response slots of a subevent. If two devices respond in one slot, neither
    /// response is received.
    private mutating func collectResponses(
        to subevent: LESetPeriodicAdvertisingSubeventData.Subevent, of train: TrainID
    ) {
        let set = controllers[train.controller].settings.advertisers[train.slot]
        var received: [UInt8: (data: [UInt8], rssi: Int8)?] = [:]
        for sender in controllers.indices where sender != train.controller {
            guard
                let response = controllers[sender].takeResponse(
                    to: train, event: set.periodic.eventCounter, subevent: subevent.number),
                let rssi = rssi(from: sender, at: train.controller)
            else { continue }
            let slot = Int(response.responseSlot) - Int(subevent.responseSlotStart)
            guard (0..<Int(subevent.responseSlotCount)).contains(slot) else { continue }
            let isFree = received[response.responseSlot] == nil
            received[response.responseSlot] = .some(isFree ? (response.data, rssi) : nil)
        }
        for (slot, response) in received.sorted(by: { $0.key < $1.key }) {
            controllers[train.controller].reportResponse(
                set.parameters.advertisingHandle, subevent.number, slot, response?.data, rssi: response?.rssi ?? 127)
        }
    }
}

extension VirtualController {
    /// Whether the controller listens to a subevent. Until its host chooses subevents, it listens to the first one.
    func listens(to train: TrainID, in subevent: UInt8) -> Bool {
        settings.synchronizer.syncs.contains {
            guard let sync = $0, sync.announcement.train == train else { return false }
            return sync.subevents.isEmpty ? subevent == 0 : sync.subevents.contains(subevent)
        }
    }

    fileprivate func hasChosenSubevents(_ place: Int) -> Bool {
        settings.synchronizer.syncs[place]?.subevents.isEmpty == false
    }

    /// Removes and returns the response for a subevent; nil if there is none for this event.
    fileprivate mutating func takeResponse(
        to train: TrainID, event: UInt16, subevent: UInt8
    ) -> LESetPeriodicAdvertisingResponseData? {
        guard let place = settings.synchronizer.syncs.firstIndex(where: { $0?.announcement.train == train }),
            let index = settings.synchronizer.syncs[place]?.responses.firstIndex(where: {
                $0.responseSubevent == subevent
            }), let response = settings.synchronizer.syncs[place]?.responses.remove(at: index)
        else { return nil }
        return response.requestEvent == event ? response : nil
    }
}
