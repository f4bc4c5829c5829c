import BluetoothBase
import BluetoothHCI

extension Air {
    /// Takes a controller away, as unplugging it would: it answers nothing any more, and those it was connected to lose
    /// it after the supervision timeout.
    public mutating func removeController(_ id: ControllerID, at now: Instant) {
        fire(at: now)
        controllers[id.index].isPresent = false
        controllers[id.index].outbox.removeAll()
        controllers[id.index].inbox.removeAll()
        schedule.set(Timer(.command, of: id.index), to: nil)
        shutDown(id.index, at: now)
    }

    /// Puts a controller back that was taken away, as plugging it in again would: it is as it was when it was added,
    /// but for its `faults`. Its former links are not its own any more.
    public mutating func returnController(_ id: ControllerID, at now: Instant) {
        fire(at: now)
        controllers[id.index].isPresent = true
    }

    /// Makes a controller report a Hardware Error event (Core 5.4, Vol 4, Part E, 7.7.16).
    public mutating func reportHardwareError(_ code: UInt8, on id: ControllerID) {
        controllers[id.index].reportHardwareError(code)
    }

    /// Ends all links of a controller on the spot, for both ends, with a reason of the caller's choice.
    public mutating func dropLinks(of id: ControllerID, reason: HCIStatus, at now: Instant) {
        fire(at: now)
        for link in links.indices where links[link].isInUse && links[link].role(of: id.index) != nil {
            close(link, reason: reason, at: now)
        }
    }

    /// Everything a controller does on the air stops, and nobody is told.
    mutating func shutDown(_ index: Int, at now: Instant) {
        schedule.set(Timer(.advertising, of: index), to: nil)
        for link in links.indices where links[link].isInUse {
            if let role = links[link].role(of: index) { abandon(role, of: link, at: now) }
        }
        controllers[index].settings = VirtualController.Settings(controllers[index].configuration)
    }
}
