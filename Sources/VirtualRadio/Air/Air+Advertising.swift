import BluetoothBase
import BluetoothHCI

extension Air {
    /// Schedules the first advertising event at once.
    mutating func startAdvertising(_ advertiser: Int, at now: Instant) {
        let isHighDuty =
            controllers[advertiser].settings.advertiser.parameters.type == .connectableDirectedHighDutyCycle
        controllers[advertiser].settings.advertiser.isEnabled = true
        controllers[advertiser].settings.advertiser.end =
            isHighDuty ? now.advanced(nanoseconds: Advertiser.highDutyCycleDuration) : nil
        schedule.set(Timer(.advertising, of: advertiser), to: now)
    }

    mutating func stopAdvertising(_ advertiser: Int) {
        controllers[advertiser].settings.advertiser.isEnabled = false
        schedule.set(Timer(.advertising, of: advertiser), to: nil)
    }

    /// One advertising event: all listeners receive it, and at most one initiator responds with a connection (Core 5.4,
    /// Vol 6, Part B, 4.4.2).
    mutating func advertise(_ advertiser: Int, at time: Instant) {
        let state = controllers[advertiser].settings.advertiser
        for index in controllers.indices { controllers[index].renewPrivateAddresses(at: time) }
        guard state.isEnabled,
            let address = controllers[advertiser].ownAddress(
                state.parameters.ownAddressType, towards: state.parameters.peerAddress)
        else { return }
        if let end = state.end, end <= time {
            stopAdvertising(advertiser)
            controllers[advertiser].reportConnectionFailure(.advertisingTimeout, role: .peripheral)
            return
        }
        for scanner in controllers.indices where scanner != advertiser {
            report(state, from: advertiser, address, to: scanner, at: time)
        }
        if state.parameters.type.isConnectable {
            for initiator in controllers.indices where initiator != advertiser {
                if connect(initiator, to: advertiser, address, at: time) { return }
            }
        }
        let delay = state.nextEventDelay(using: &controllers[advertiser].generator)
        schedule.set(Timer(.advertising, of: advertiser), to: time.advanced(nanoseconds: delay))
    }
}
