import BluetoothBase

extension Scenario {
    /// A rare sequence of events, played step by step. At random it would occur in few of 100,000 worlds.
    enum Episode: String, CaseIterable, Codable, Sendable {
        /// Cards and values arrive over a link that loses fragments.
        case lossyValues
        /// The rest of a frame arrives after octets that belong to no frame.
        case overlongFrames
        /// A central connects and disconnects repeatedly.
        case visits
        /// A client sends requests faster than the server answers, and the server is slow.
        case impatience
        /// Responses exceed the ATT_MTU.
        case longAnswers
        /// A controller takes long to perform commands while links begin and end.
        case slowCommands
        /// A controller does not report new connection parameters.
        case lostUpdates
        /// More indications are sent than may be pending.
        case manyIndications
        /// Services change while values are indicated, and the indications are no longer confirmed afterwards.
        case indicatedChanges
        /// Services change while they are discovered.
        case changingServices
        /// A service is withdrawn right after it was discovered, on a link that has just been established.
        case vanishingServices
        /// One user subscribes to cards while another ends its subscription.
        case followers
        /// A link ends during pairing.
        case endsWhilePairing
        /// A peripheral requests pairing again as soon as it has paired.
        case askingAgain
        /// The user of an adapter leaves before the adapter is ready.
        case unusedAdapter
        /// A bonded device requests the key of another bond.
        case otherKeys
        /// A device has lost its bond.
        case lostBonds
        /// A pairing agent leaves while an operation is refused.
        case agentLeaves
        /// Operations are planned, and submitted after services have changed.
        case plannedUse
        /// Keys are renewed, and used on several links in both roles.
        case renewedKeys
        /// A bonded client reconnects repeatedly, also to a server that has restarted.
        case keptSubscriptions
        /// Services change during discovery on links that end before any client learns of it, and change back.
        case surveys
        /// Devices change their addresses while others pair with them and remove the bonds.
        case privateAddresses
    }

    /// Adds an episode to every world of the kind `episodes`, and to one in eight of the others. It is drawn from a
    /// separate generator, so the other worlds do not depend on it. In three of four of these worlds nothing else
    /// happens.
    mutating func addEpisode(_ kind: ScenarioKind) {
        var generator = SeededGenerator(seed: seed ^ 0xE915_0DE5_E915_0DE5)
        guard generator.oneIn(8) || kind == .episodes else { return }
        let episode = Episode.allCases[generator.below(Episode.allCases.count)]
        self.episode = episode
        hardship = true
        if !generator.oneIn(4) || episode == .privateAddresses {
            actions = []
            faults = []
            channels = nil
            security = nil
        }
        cast(episode, &generator)
        var script = Script(generator: generator)
        script.write(episode)
        actions += script.actions
        faults += script.faults
        actions.sort { $0.instant < $1.instant }
        faults.sort { $0.instant < $1.instant }
    }

    /// The devices of an episode: a server, a client with a second user and one that uses tasks, and further devices if
    /// the episode needs them.
    private mutating func cast(_ episode: Episode, _ generator: inout SeededGenerator) {
        let count =
            switch episode {
            case .slowCommands: 3
            case .privateAddresses: 4
            default: 2
            }
        while devices.count < count { devices.append(devices[1]) }
        devices.removeLast(devices.count - count)
        for index in devices.indices { devices[index].users = [User(face: .calls)] }
        if episode != .unusedAdapter, episode != .privateAddresses {
            devices[1].users += [User(face: .calls), User(face: .tasks)]
        }
        switch episode {
        case .slowCommands: devices[0].changesHandles = true
        // A second user stays, whose state is checked at the end.
        case .indicatedChanges, .vanishingServices: devices[0].users.append(User(face: .calls))
        case .overlongFrames:
            // Frames that take several packets.
            devices[0].preferredMTU = 247
            devices[1].preferredMTU = 247
            devices[0].bufferLength = 27
        // Commands wait in the controller while data arrives.
        case .unusedAdapter, .endsWhilePairing: devices[1].responseDelay = .milliseconds(20)
        case .privateAddresses:
            for index in devices.indices where index != 1 || generator.oneIn(2) {
                devices[index].addressRotation = .milliseconds(1_300 + generator.below(5_000))
            }
        default: break
        }
        // A server with ciphers has a Database Hash.
        guard episode.isSecure || episode == .vanishingServices && generator.oneIn(2) else { return }
        let isLegacy = episode == .otherKeys || generator.oneIn(3)
        security = devices.map { _ in
            Security(
                offersSecureConnections: !isLegacy, requiresSecureConnections: false, minimumKeySize: 7,
                maximumKeySize: 16)
        }
    }

    /// Whether devices change their addresses.
    var hasPrivateAddresses: Bool { devices.contains { $0.addressRotation != nil } }

    /// Whether a peripheral requests the keys it already has, and no device pairs without a call.
    var asksAgain: Bool {
        episode == .askingAgain
            && actions.allSatisfy { $0.step != nil || $0.kind == .connect || $0.kind == .removeBond }
    }

    /// The actions of users in an episode, and its faults.
    struct Script {
        var actions: [Action] = []
        var faults: [Fault] = []
        var generator: SeededGenerator
    }
}

extension Scenario.Episode {
    /// Whether the devices can pair, and have a Database Hash.
    var isSecure: Bool {
        switch self {
        case .endsWhilePairing, .askingAgain, .unusedAdapter, .otherKeys, .lostBonds, .agentLeaves, .renewedKeys,
            .keptSubscriptions, .surveys, .privateAddresses:
            true
        default: false
        }
    }
}

extension Scenario.Action {
    /// The exact action of a user in an episode.
    enum Step: String, CaseIterable, Codable, Sendable {
        case advertiseOften
        /// Connects and disconnects immediately, several times.
        case visit
        /// Connects and immediately discovers everything. Then the peer's service is withdrawn.
        case discoverAtOnce
        case subscribeToStream, subscribeForIndications, subscribeToCard
        /// Answers requests after 3 s from now on.
        case answerLate
        /// Reads or writes the value that the peer's application provides.
        case useDynamic
        /// Reads a value that is longer than most PDUs.
        case readMuch
        /// Sends more indications than may be pending.
        case indicateMany
        /// Ends all links.
        case disconnectAll
        /// Leaves. The user does not join again unless a later action makes it.
        case leaveNow
        /// Becomes a willing pairing agent, with a host that pairs on demand, or only when a user calls `pair`.
        case beWillingAgent, beAgentOnCall
        case readLocked
        case pairNow, pairForAuthentication
        /// Pairs again as soon as the next pairing ends.
        case pairAgain
        /// Pairs although keys exist.
        case renewKeys
        /// Plans an operation and submits it later.
        case planUse
        /// Connects, discovers everything and disconnects.
        case survey
        /// Changes the services on the next link, and changes them back when it ends.
        case changeOnNextLink
        /// Scans for all advertisements.
        case listen
        /// Connects to a peer at its current address.
        case meet
        case pairWithStrangers
    }
}
