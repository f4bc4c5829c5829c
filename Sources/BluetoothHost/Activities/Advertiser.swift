import BluetoothBase
import BluetoothHCI

/// Advertising: the sets that are wanted, each of which sees to itself.
struct Advertiser: Hashable, Sendable {
    /// The addresses to advertise with.
    struct Addresses: Hashable, Sendable {
        var own: OwnAddressType
        /// The one that directed advertising is for.
        var peer = DeviceAddress(0, kind: .public)
        /// What a set is to use as its random address; nil where it needs none.
        var random: DeviceAddress?
    }

    private(set) var sets: [AdvertisingSet] = []
    /// What becomes of advertising that leads to links which come to nothing. It waits for a second at most: one peer that
    /// connects and drops the link is not to keep all others from finding this device. It is no part of a set, since an
    /// application may stop advertising and begin anew with each link.
    private var connections = Backoff(limit: .seconds(1))

    /// The most sets, whatever the controller offers.
    static let maximumSets = 16

    /// When something is due.
    var nextDeadline: Instant? {
        sets.reduce(nil) {
            earliest($0, earliest($1.nextDeadline, $1.waitsForConnections ? connections.deadline : nil))
        }
    }

    /// Whether the controller neither advertises nor is about to begin or stop.
    var isIdle: Bool { sets.allSatisfy(\.isIdle) }

    /// Whether a peer may have connected.
    var acceptsConnections: Bool { sets.contains(where: \.acceptsConnections) }

    /// Whether anything is to be advertised as a set.
    func wants(_ handle: AdvertisingHandle) -> Bool { sets.contains { $0.handle == handle && $0.isWanted } }

    /// Whether a set that is wanted has a subevent of this number.
    func has(_ subevent: Int, of handle: AdvertisingHandle) -> Bool {
        let responses = sets.first { $0.handle == handle }?.parameters?.periodic?.responses
        return responses.map { (0..<$0.count).contains(subevent) } ?? false
    }

    func isPeriodicOnAir(_ handle: AdvertisingHandle) -> Bool {
        sets.contains { $0.handle == handle && $0.isPeriodicOnAir }
    }

    /// Whether another set may be wanted.
    func hasRoom(for handle: AdvertisingHandle) -> Bool {
        sets.count { $0.isWanted && $0.handle != handle } < Self.maximumSets
    }

    /// Why something cannot be advertised as a set beside the others; nil if it can.
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
        if index == sets.count { sets.append(AdvertisingSet(handle: handle)) }
        sets[index].start(parameters, at: now)
    }

    mutating func stop(_ handle: AdvertisingHandle) {
        for index in sets.indices where sets[index].handle == handle { sets[index].stop() }
    }

    /// Ends advertising whose time is over.
    mutating func fire(at now: Instant) -> [Effect] {
        var effects: [Effect] = []
        for index in sets.indices { effects += sets[index].fire(at: now) }
        return effects
    }

    /// Moves one set a step towards what is wanted.
    mutating func advance(
        _ index: Int, _ verdict: RadioArbiter.Verdict, _ addresses: Addresses, _ radio: RadioFeatures, at now: Instant
    ) -> [Effect] {
        // Those that are on their way out still take room; a legacy controller has one advertiser for all of them.
        let taken = sets.indices.count { $0 != index && sets[$0].takesRoom }
        let mustWait = connections.waits(at: now) && sets[index].waitsForConnections
        return sets[index].advance(
            verdict, mayBegin: !mustWait && taken < max(1, radio.setCount), addresses, radio, at: now)
    }

    /// Gives up the sets beyond those that the controller takes, which could not be known before it was up.
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

    /// Forgets the sets about which there is nothing left to be done.
    mutating func forgetOver() { sets.removeAll(where: \.isOver) }

    // MARK: The controller

    /// Takes the answer to a step of a set.
    ///
    /// - Returns: where the set is, and what follows; nil of a set that is gone.
    mutating func answered(
        _ step: AdvertisingSet.Step, of handle: AdvertisingHandle, _ status: HCIStatus
    ) -> (index: Int, outcome: AdvertisingSet.Outcome)? {
        guard let index = sets.firstIndex(where: { $0.handle == handle }) else { return nil }
        return (index, sets[index].answered(step, status))
    }

    mutating func giveUp(_ index: Int, _ refused: AdvertisingParameters, _ error: HostError) -> [Effect] {
        sets[index].giveUp(refused, error)
    }

    /// A peer has connected.
    ///
    /// - Parameter bySync: whether it may be one whose periodic advertising this device receives.
    mutating func peerConnected(bySync: Bool) -> [Effect] {
        let isOnly = sets.count(where: \.acceptsConnections) == 1 && !bySync
        return sets.indices.flatMap { sets[$0].peerConnected(isOnly: isOnly) }
    }

    /// Whether something is sent at the high duty cycle.
    var isRunningAtHighDutyCycle: Bool { sets.contains(where: \.isRunningAtHighDutyCycle) }

    /// A controller without sets has ended what it sent at the high duty cycle (Vol 4, Part E, 7.7.65.1).
    mutating func highDutyCycleEnded(at now: Instant) -> [Effect] {
        sets.indices.filter { sets[$0].isRunningAtHighDutyCycle }
            .flatMap { sets[$0].terminated(.advertisingTimeout, at: now) }
    }

    /// LE Advertising Set Terminated.
    mutating func terminated(_ handle: AdvertisingHandle, _ status: HCIStatus, at now: Instant) -> [Effect] {
        guard let index = sets.firstIndex(where: { $0.handle == handle }) else { return [] }
        return sets[index].terminated(status, at: now)
    }

    /// A link to which advertising led ended as soon as it began.
    mutating func linkWasShortLived(at now: Instant) { connections.failed(at: now) }

    /// A peer has tried to connect and failed.
    mutating func peerFailed(at now: Instant) -> [Effect] {
        connections.failed(at: now)
        return sets.indices.flatMap { sets[$0].peerFailed() }
    }

    /// The controller was reset. What is wanted stays wanted.
    mutating func reset() {
        for index in sets.indices { sets[index].reset() }
        connections.succeeded()
        forgetOver()
    }

    /// The controller is gone. What has been on the air will be again, with the next one.
    mutating func abandon(_ error: HostError) -> [Effect] {
        defer { forgetOver() }
        return sets.indices.flatMap { sets[$0].abandon(error) }
    }
}
