import BluetoothBase
import BluetoothHCI
import BluetoothSMP
import BluetoothSimulation
import Testing

@testable import BluetoothHost

/// Two bonded hosts over the virtual radio, one of which is attacked. The other one is the genuine peer, as long as it
/// has its bond, and else an impersonator: it has the same address and does not have the key.
struct RepairingScene {
    /// How a host answers the questions of a pairing.
    struct Person {
        var parameters: PairingParameters
        /// Its answer to equal numbers; nil for a person who is silent.
        var confirmsNumbers: Bool? = true

        static let silent = Person(parameters: .comparing, confirmsNumbers: nil)
    }

    var world: HostWorld
    /// The role of the host that is attacked.
    let role: LinkRole
    let victim: Int, peer: Int
    /// Their bonds with each other.
    let bond: Bond, genuine: Bond
    /// The link between them, while there is one.
    private(set) var link: HostWorld.Pair
    /// The events of the victim since the last link began.
    private(set) var reported: [HostEvent] = []

    /// - Parameters:
    ///   - parameters: those of both in the first pairing.
    ///   - configure: changes the victim.
    init(
        _ role: LinkRole, bondedBy parameters: PairingParameters = PairingParameters(),
        _ configure: (inout SecurityPolicy) -> Void = { _ in }
    ) throws {
        var policy = SecurityPolicy()
        configure(&policy)
        var world = HostWorld()
        let victim = world.startSecure { $0.security?.policy = policy }
        let peer = world.startSecure()
        let link = try world.connectSecure(role == .central ? victim : peer, to: role == .central ? peer : victim)
        try world.hosts[link.central].pair(link.centralLink, parameters, at: world.now)
        let ends = try world.answerPairing(link, parameters)
        world.run(for: .seconds(1))
        world.disconnect(link)
        bond = try #require(ends[role]?.bond)
        genuine = try #require(ends[role == .central ? .peripheral : .central]?.bond)
        (self.role, self.victim, self.peer, self.link, self.world) = (role, victim, peer, link, world)
    }

    var victimLink: LinkIdentifier { role == .central ? link.centralLink : link.peripheralLink }
    var peerLink: LinkIdentifier { role == .central ? link.peripheralLink : link.centralLink }

    /// From now on the peer is an impersonator.
    mutating func loseKey() { world.hosts[peer].removeBond(with: genuine.peer, at: world.now) }

    /// The genuine peer is back.
    mutating func restoreKey() { world.hosts[peer].restore(genuine, at: world.now) }

    /// Connects, without letting time pass afterwards.
    mutating func connect() throws {
        reported = []
        link = try world.connectSecure(role == .central ? victim : peer, to: role == .central ? peer : victim)
    }

    /// Connects, and lets the link be encrypted if both have the key.
    mutating func reconnect() throws {
        try connect()
        run(for: .seconds(1))
    }

    mutating func disconnect() {
        world.disconnect(link)
        // After links that ended at once a host waits before it advertises again.
        run(for: .seconds(5))
    }

    /// Lets time pass, and takes the events of the victim.
    mutating func run(for duration: Duration) {
        world.run(for: duration)
        reported += world.seen[victim].map(\.event)
        for index in world.hosts.indices { world.seen[index].removeAll() }
    }

    /// Lets a device begin to pair, and both answer. Returns the outcome that the victim reports, if it does so within
    /// a time.
    mutating func pair(
        from beginner: Int, attacker: Person, victim person: Person = Person(parameters: .comparing),
        within limit: Duration = .seconds(5)
    ) throws -> Result<KeyStrength, PairingError>? {
        let parameters = beginner == victim ? person.parameters : attacker.parameters
        try world.hosts[beginner].pair(beginner == victim ? victimLink : peerLink, parameters, at: world.now)
        let end = world.now.advanced(by: limit)
        while world.now < end {
            world.settle()
            let events = [victim, peer].map { index in world.seen[index].map(\.event) }
            for index in world.hosts.indices { world.seen[index].removeAll() }
            for event in events[0] {
                reported.append(event)
                if case .security(_, .requested) = event {
                    try? world.hosts[victim].pair(victimLink, person.parameters, at: world.now)
                }
                answer(event, person, victim, victimLink)
            }
            for event in events[1] {
                if case .security(_, .requested) = event {
                    try? world.hosts[peer].pair(peerLink, attacker.parameters, at: world.now)
                }
                answer(event, attacker, peer, peerLink)
            }
            if let outcome = events[0].compactMap(\.pairingOutcome).last { return outcome }
            world.run(for: .milliseconds(50))
        }
        return nil
    }

    private mutating func answer(_ event: HostEvent, _ person: Person, _ index: Int, _ link: LinkIdentifier) {
        switch event {
        case .security(_, .asked(.compareNumbers)):
            guard let confirms = person.confirmsNumbers else { return }
            try? world.hosts[index].answerPairing(link, confirms ? .accept() : .refuse, at: world.now)
        case .security(_, .asked):
            try? world.hosts[index].answerPairing(link, .accept(person.parameters), at: world.now)
        default: return
        }
    }

    /// The victim has its bond as it was, and has reported no other one to store.
    func expectUntouched(sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(world.hosts[victim].bonds == [bond], sourceLocation: sourceLocation)
        let stored = reported.compactMap(\.bond).filter {
            $0.centralKey != bond.centralKey || $0.peripheralKey != bond.peripheralKey || $0.strength != bond.strength
        }
        #expect(stored.isEmpty, sourceLocation: sourceLocation)
    }

    /// The genuine peer comes back and needs no pairing.
    mutating func expectGenuinePeerIsServed(sourceLocation: SourceLocation = #_sourceLocation) throws {
        disconnect()
        restoreKey()
        try reconnect()
        #expect(
            world.hosts[victim].keyStrength(of: victimLink) == bond.strength, "the key of the bond",
            sourceLocation: sourceLocation)
    }
}

extension PairingParameters {
    /// A device that can show six digits and take a yes or no.
    static let comparing = PairingParameters(ioCapability: .displayYesNo, requiresAuthentication: true)
}
