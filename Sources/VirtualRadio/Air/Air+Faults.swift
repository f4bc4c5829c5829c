import BluetoothBase
import BluetoothHCI

extension Air {
    /// Removes a controller, like unplugging it: it no longer answers, and its peers lose their links after the
    /// supervision timeout.
    public mutating func removeController(_ id: ControllerID, at now: Instant) {
        fire(at: now)
        controllers[id.index].isPresent = false
        controllers[id.index].outbox.removeAll()
        controllers[id.index].inbox.removeAll()
        schedule.set(AirTimer(.command, of: id.index), to: nil)
        shutDown(id.index, at: now)
    }

    /// Restores a controller that was removed, like plugging it in again. It returns to the state in which it was
    /// added, except for its `faults`. Its former links are gone.
    public mutating func returnController(_ id: ControllerID, at now: Instant) {
        fire(at: now)
        controllers[id.index].isPresent = true
    }

    /// Resets a controller whose host has detached, ready for the next host, and frees the memory of the packets that
    /// were waiting.
    public mutating func dismissHost(of id: ControllerID, at now: Instant) {
        fire(at: now)
        controllers[id.index].outbox = PacketQueue()
        controllers[id.index].inbox = PacketQueue(reservingCapacity: 0)
        schedule.set(AirTimer(.command, of: id.index), to: nil)
        shutDown(id.index, at: now)
    }

    /// Makes a controller report a Hardware Error event (Core 5.4, Vol 4, Part E, 7.7.16).
    public mutating func reportHardwareError(_ code: UInt8, on id: ControllerID) {
        controllers[id.index].reportHardwareError(code)
    }

    /// Ends all links of a controller immediately, at both ends, with the given reason.
    public mutating func dropLinks(of id: ControllerID, reason: HCIStatus, at now: Instant) {
        fire(at: now)
        for link in links.indices where links[link].isInUse && links[link].role(of: id.index) != nil {
            close(link, reason: reason, at: now)
        }
    }

    /// Stops everything a controller does on the air, without notifying any host.
    mutating func shutDown(_ index: Int, at now: Instant) {
        for slot in controllers[index].settings.advertisers.indices {
            schedule.set(.advertising(index, slot), to: nil)
            schedule.set(.periodic(index, slot), to: nil)
        }
        for place in controllers[index].settings.synchronizer.syncs.indices {
            schedule.set(.sync(index, place), to: nil)
        }
        schedule.set(AirTimer(.scan, of: index), to: nil)
        for link in links.indices where links[link].isInUse {
            if let role = links[link].role(of: index) { abandon(role, of: link, at: now) }
        }
        controllers[index].settings = VirtualController.Settings(controllers[index].configuration)
    }
}
