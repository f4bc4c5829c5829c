import BluetoothBase
import BluetoothHCI

/// Advertising: the requested advertising sets, each of which runs its own state machine.
struct Advertiser: Hashable, Sendable {
    /// The addresses to advertise with.
    struct Addresses: Hashable, Sendable {
        var own: OwnAddressType
        /// The peer that directed advertising addresses.
        var peer = DeviceAddress(0, kind: .public)
        /// The random address of a set; nil if it needs none.
        var random: DeviceAddress?
    }

    private(set) var sets: [HostAdvertisingSet] = []
    /// Delays advertising after links that failed, or that ended as soon as they began. The delay is at most one
    /// second, so that one peer that connects and drops the link does not prevent others from finding this device. It
    /// is not part of a set, because an application may stop and restart advertising with each link.
    private var connections = Backoff(limit: .seconds(1))

    /// The maximum number of sets, regardless of what the controller offers.
    static let maximumSets = 16

    /// The next time at which something is due.
    var nextDeadline: Instant? {
        sets.reduce(nil) {
            earliest($0, earliest($1.nextDeadline, $1.waitsForConnections ? connections.deadline : nil))
        }
    }

    /// Whether the controller is not advertising and is not about to start or stop.
    var isIdle: Bool { sets.allSatisfy(\.isIdle) }

    /// Whether a peer may have connected.
    var acceptsConnections: Bool { sets.contains(where: \.acceptsConnections) }

    /// Whether the application has requested this set.
    func wants(_ handle: AdvertisingHandle) -> Bool { sets.contains { $0.handle == handle && $0.isWanted } }

    /// Whether a requested set has a subevent with this number.
    func has(_ subevent: Int, of handle: AdvertisingHandle) -> Bool {
        let responses = sets.first { $0.handle == handle }?.parameters?.periodic?.responses
        return responses.map { (0..<$0.count).contains(subevent) } ?? false
    }

    func isPeriodicOnAir(_ handle: AdvertisingHandle) -> Bool {
        sets.contains { $0.handle == handle && $0.isPeriodicOnAir }
    }

    /// Whether another set may be requested.
    func hasRoom(for handle: AdvertisingHandle) -> Bool {
        sets.count { $0.isWanted && $0.handle != handle } < Self.maximumSets
    }

    /// The reason why a set cannot be advertised in addition to the others; nil if it can.
    func obstacle(
        to parameters: AdvertisingParameters, as handle: AdvertisingHandle, _ radio: RadioFeatures
    ) -> HostError? {
        if let obstacle = parameters.obstacle(radio) { return obstacle }
        let others = sets.count { $0.isWanted && $0.handle != handle }
        guard others > 0, others >= min(radio.setCount, Self.maximumSets) else { return nil }
        return radio.isExtended ? .busy : .unsupported(.extendedAdvertising)
    }

    // MARK: Calls

    mutating func start(_ parameters: AdvertisingParameters, as handle: AdvertisingHandle, at now: Instant) {
        let index = sets.firstIndex { $0.handle == handle } ?? sets.count
        if index == sets.count { sets.append(HostAdvertisingSet(handle: handle)) }
        sets[index].start(parameters, at: now)
    }

    mutating func stop(_ handle: AdvertisingHandle) {
        for index in sets.indices where sets[index].handle == handle { sets[index].stop() }
    }

    /// Ends advertising whose duration has elapsed.
    mutating func fire(at now: Instant) -> [Effect] {
        var effects: [Effect] = []
        for index in sets.indices { effects += sets[index].fire(at: now) }
        return effects
    }

    /// Moves one set a step towards its requested state.
    mutating func advance(
        _ index: Int, _ verdict: RadioArbiter.Verdict, _ addresses: Addresses, _ radio: RadioFeatures, at now: Instant
    ) -> [Effect] {
        // Sets that are still being removed also take up room. A legacy controller has one advertiser for all of them.
        let taken = sets.indices.count { $0 != index && sets[$0].takesRoom }
        let mustWait = connections.waits(at: now) && sets[index].waitsForConnections
        return sets[index].advance(
            verdict, mayBegin: !mustWait && taken < max(1, radio.setCount), addresses, radio, at: now)
    }

    /// Fails the sets beyond the number that the controller supports, which is unknown until the controller is up.
    mutating func fit(_ radio: RadioFeatures) -> [Effect] {
        var effects: [Effect] = []
        var count = 0
        for index in sets.indices {
            guard let parameters = sets[index].parameters else { continue }
            count += 1
            guard count > max(1, min(radio.setCount, Self.maximumSets)) else { continue }
            effects += sets[index].giveUp(parameters, radio.isExtended ? .busy : .unsupported(.extendedAdvertising))
        }
        return effects
    }

    /// Forgets the sets for which there is nothing left to do.
    mutating func forgetOver() { sets.removeAll(where: \.isOver) }

    // MARK: The controller

    /// Handles the controller's answer to a step of a set.
    ///
    /// - Returns: the index of the set and the outcome; nil if the set no longer exists.
    mutating func answered(
        _ step: HostAdvertisingSet.Step, of handle: AdvertisingHandle, _ status: HCIStatus
    ) -> (index: Int, outcome: HostAdvertisingSet.Outcome)? {
        guard let index = sets.firstIndex(where: { $0.handle == handle }) else { return nil }
        return (index, sets[index].answered(step, status))
    }

    mutating func giveUp(_ index: Int, _ refused: AdvertisingParameters, _ error: HostError) -> [Effect] {
        sets[index].giveUp(refused, error)
    }

    /// Handles a new connection in which this device is the peripheral.
    ///
    /// - Parameter bySync: whether the link may stem from periodic advertising that this device receives.
    mutating func peerConnected(bySync: Bool) -> [Effect] {
        let isOnly = sets.count(where: \.acceptsConnections) == 1 && !bySync
        return sets.indices.flatMap { sets[$0].peerConnected(isOnly: isOnly) }
    }

    /// Whether a set is advertising at the high duty cycle.
    var isRunningAtHighDutyCycle: Bool { sets.contains(where: \.isRunningAtHighDutyCycle) }

    /// Handles the end of high duty cycle advertising on a controller without advertising sets (Vol 4, Part E,
    /// 7.7.65.1).
    mutating func highDutyCycleEnded(at now: Instant) -> [Effect] {
        sets.indices.filter { sets[$0].isRunningAtHighDutyCycle }
            .flatMap { sets[$0].terminated(.advertisingTimeout, at: now) }
    }

    /// Handles LE Advertising Set Terminated.
    mutating func terminated(_ handle: AdvertisingHandle, _ status: HCIStatus, at now: Instant) -> [Effect] {
        guard let index = sets.firstIndex(where: { $0.handle == handle }) else { return [] }
        return sets[index].terminated(status, at: now)
    }

    /// Handles a link, made through advertising, that ended as soon as it began.
    mutating func linkWasShortLived(at now: Instant) { connections.failed(at: now) }

    /// Handles a peer's failed attempt to connect.
    mutating func peerFailed(at now: Instant) -> [Effect] {
        connections.failed(at: now)
        return sets.indices.flatMap { sets[$0].peerFailed() }
    }

    /// Handles a reset of the controller. Requested sets stay requested.
    mutating func reset() {
        for index in sets.indices { sets[index].reset() }
        connections.succeeded()
        forgetOver()
    }

    /// Handles the loss of the controller. Sets that have been on the air resume with the next controller.
    mutating func abandon(_ error: HostError) -> [Effect] {
        defer { forgetOver() }
        return sets.indices.flatMap { sets[$0].abandon(error) }
    }
}
