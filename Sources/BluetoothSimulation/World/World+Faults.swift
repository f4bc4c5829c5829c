import BluetoothBase
import BluetoothHCI
import VirtualRadio

/// The faults of a world.
extension World {
    /// Begins a fault, and schedules its end.
    func begin(_ fault: Scenario.Fault) {
        var pick = SeededGenerator(seed: fault.pick)
        let index = fault.device, controller = stations[index].controller
        let end = now.advanced(by: fault.duration)
        switch fault.kind {
        case .outOfRange:
            let peer = (index + 1 + pick.below(stations.count - 1)) % stations.count
            setRange(index, peer, isInRange: false)
            schedule(at: end) { [unowned self] in setRange(index, peer, isInRange: true) }
        case .unplug:
            unplug(index)
            schedule(at: end) { [unowned self] in plugIn(index) }
        case .hardwareError: air.reportHardwareError(UInt8(pick.below(256)), on: controller)
        case .dropLinks: air.dropLinks(of: controller, reason: .connectionTimeout, at: now)
        case .failingConnections: air[controller].faults.failingConnections = 1 + pick.below(3)
        case .ignoredCommands:
            air[controller].faults.ignoresCommands = true
            schedule(at: end) { [unowned self] in air[controller].faults.ignoresCommands = false }
        case .silence:
            air[controller].faults.isSilent = true
            stations[index].inspector.isMiscounting = true
            schedule(at: end) { [unowned self] in air[controller].faults.isSilent = false }
        case .weather: weather(index, .recoverable, until: end)
        case .damage:
            stations[index].inspector.isMiscounting = true
            weather(index, .damaging, until: end)
        case .lostFragments:
            stations[index].wire.fragmentLossRate = 0.1
            schedule(at: end) { [unowned self] in stations[index].wire.fragmentLossRate = 0 }
        case .broken:
            stations[index].wire.mutationRate = 0.2
            schedule(at: end) { [unowned self] in stations[index].wire.mutationRate = 0 }
        case .stall:
            stations[index].stalledUntil = end
        case .clockJump: jump(by: fault.duration)
        case .slowCommands:
            air[controller].faults.commandDelay = .milliseconds(50 + pick.below(400))
            schedule(at: end) { [unowned self] in air[controller].faults.commandDelay = .zero }
        case .lateCompletions: weather(index, .tardy, until: end)
        case .unanswering, .lostEnds, .wrongPeers, .excess, .overlongFragments, .lostUpdates:
            stations[index].wire.rudeness = fault.kind
            schedule(at: end) { [unowned self] in stations[index].wire.rudeness = nil }
        // The scenario run restarts the process itself.
        case .restart: return
        }
    }

    private func setRange(_ index: Int, _ peer: Int, isInRange: Bool) {
        air.setPathLoss(
            between: stations[index].controller, and: stations[peer].controller, to: isInRange ? 50 : 200, at: now)
    }

    private func weather(_ index: Int, _ rates: HCIFaultRates, until end: Instant) {
        stations[index].wire.rates = rates
        schedule(at: end) { [unowned self] in stations[index].wire.rates = .none }
    }

    /// Changes the air at the current instant.
    package func withAir(_ body: (inout Air, Instant) -> Void) {
        air.fire(at: now)
        body(&air, now)
    }

    /// The controller of a station.
    package func controller(_ index: Int) -> ControllerID { stations[index].controller }

    /// Removes a controller, like unplugging a dongle.
    package func unplug(_ index: Int) {
        guard air[stations[index].controller].isPresent else { return }
        air.removeController(stations[index].controller, at: now)
        stations[index].wire.clear()
        stations[index].inspector.reset()
        stations[index].security?.reset()
        stations[index].host?.unplugged()
        request(index)
    }

    package func plugIn(_ index: Int) {
        guard !air[stations[index].controller].isPresent else { return }
        air.returnController(stations[index].controller, at: now)
        request(index)
    }

    /// Ends all faults.
    func calm() {
        for index in stations.indices {
            stations[index].wire.calm()
            stations[index].stalledUntil = nil
            stations[index].traps = []
            air[stations[index].controller].faults = VirtualController.Faults()
            plugIn(index)
            for peer in stations.indices where peer > index { setRange(index, peer, isInRange: true) }
        }
    }
}

extension HCIFaultRates {
    /// Faults from which a host recovers with the loss of links only: nothing is modified or lost in a way that the
    /// host cannot detect.
    static let recoverable: HCIFaultRates = {
        var rates = HCIFaultRates.badWeather
        rates.cut = 0
        rates.lengthened = 0
        rates.doubledEvents = 0
        rates.lostCompletions = 0
        rates.excessCompletions = 0
        rates.unansweredCommands = 0.005
        return rates
    }()

    /// Completed packets are reported late, which is allowed.
    static let tardy: HCIFaultRates = {
        var rates = HCIFaultRates.none
        rates.lateCompletions = 0.7
        return rates
    }()

    /// Packets are truncated, lengthened and duplicated. No controller may do that, but a host must survive it.
    static let damaging: HCIFaultRates = {
        var rates = HCIFaultRates.badWeather
        rates.cut = 0.03
        rates.lengthened = 0.02
        rates.doubledEvents = 0.03
        rates.doubledData = 0.02
        rates.lostCompletions = 0.02
        return rates
    }()
}
