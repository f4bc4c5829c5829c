import BluetoothBase
import BluetoothHCI

extension AirTimer {
    /// The next advertising event of a controller's advertiser. Slot 0 belongs to the legacy commands, the other slots
    /// to advertising sets.
    static func advertising(_ controller: Int, _ slot: Int) -> AirTimer {
        slot == 0
            ? AirTimer(.advertising, of: controller)
            : AirTimer(.advertisingSet, of: controller * VirtualController.maximumSets + slot - 1)
    }

    /// The advertiser that the timer belongs to.
    var advertiser: (controller: Int, slot: Int) {
        guard concern == .advertisingSet else { return (index, 0) }
        return (index / VirtualController.maximumSets, index % VirtualController.maximumSets + 1)
    }
}

extension Air {
    /// Enables an advertiser. Its first advertising event is due immediately.
    ///
    /// - Parameter duration: the time after which advertising ends automatically; nil for never.
    mutating func startAdvertising(_ controller: Int, _ slot: Int = 0, for duration: Duration? = nil, at now: Instant) {
        let isHighDuty = controllers[controller].settings.advertisers[slot].isHighDutyCycle
        controllers[controller].settings.advertisers[slot].isEnabled = true
        controllers[controller].settings.advertisers[slot].sentEvents = 0
        controllers[controller].settings.advertisers[slot].end =
            duration.map { now.advanced(by: $0) }
            ?? (isHighDuty ? now.advanced(nanoseconds: AdvertisingState.highDutyCycleDuration) : nil)
        schedule.set(.advertising(controller, slot), to: now)
        startTrain(controller, slot, at: now)
    }

    mutating func stopAdvertising(_ controller: Int, _ slot: Int = 0) {
        controllers[controller].settings.advertisers[slot].isEnabled = false
        schedule.set(.advertising(controller, slot), to: nil)
    }

    /// One advertising event: all listeners receive it, and at most one initiator responds with a connection (Core 5.4,
    /// Vol 6, Part B, 4.4.2).
    mutating func advertise(_ advertiser: Int, _ slot: Int, at time: Instant) {
        guard slot < controllers[advertiser].settings.advertisers.count else { return }
        let state = controllers[advertiser].settings.advertisers[slot]
        for index in controllers.indices { controllers[index].renewPrivateAddresses(at: time) }
        guard state.isEnabled, let address = controllers[advertiser].address(of: state) else { return }
        if let end = state.end, end <= time { return endAdvertising(advertiser, slot, .advertisingTimeout) }
        for scanner in controllers.indices where scanner != advertiser {
            report(state, from: advertiser, address, to: scanner, at: time)
            if state.periodic.isOnAir { findTrain(of: state, advertiser, slot, address, by: scanner, at: time) }
        }
        controllers[advertiser].settings.advertisers[slot].sentEvents &+= 1
        if state.isConnectable {
            for initiator in controllers.indices where initiator != advertiser {
                if connect(initiator, to: advertiser, slot, address, at: time) { return }
            }
        }
        if state.maximumEvents > 0, state.sentEvents &+ 1 >= state.maximumEvents {
            return endAdvertising(advertiser, slot, .limitReached)
        }
        let delay = state.nextEventDelay(using: &controllers[advertiser].generator)
        var next = time.advanced(nanoseconds: delay)
        if slot > 0, let end = state.end { next = min(next, end) }
        schedule.set(.advertising(advertiser, slot), to: next)
    }

    /// Advertising ends because its duration or its maximum number of events is reached.
    private mutating func endAdvertising(_ advertiser: Int, _ slot: Int, _ status: HCIStatus) {
        stopAdvertising(advertiser, slot)
        if slot == 0 {
            controllers[advertiser].reportConnectionFailure(status, role: .peripheral)
        } else {
            controllers[advertiser].reportSetTerminated(slot, status)
        }
    }
}
