import BluetoothBase

extension Scenario {
    /// Something rare that is made to happen, step by step. Without that, few worlds in a hundred thousand would have it.
    enum Episode: String, CaseIterable, Codable, Sendable {
        /// Cards and values come over a link that loses parts of frames.
        case lossyValues
        /// The rest of a frame comes behind what belongs to nothing.
        case overlongFrames
        /// A central comes and goes, again and again.
        case visits
        /// A client asks before it is answered, and a server is slow.
        case impatience
        /// Answers are longer than the ATT_MTU.
        case longAnswers
        /// A controller takes long to carry out commands, and links come and go meanwhile.
        case slowCommands
        /// A controller does not tell of new connection parameters.
        case lostUpdates
        /// More is indicated than may wait.
        case manyIndications
        /// Services change while values are indicated, and are then confirmed no more.
        case indicatedChanges
        /// Services change while they are discovered.
        case changingServices
        /// A service goes right after it was found, on a link that has just begun.
        case vanishingServices
        /// One user subscribes to cards as another one ends its subscription.
        case followers
        /// The link of a pairing ends.
        case endsWhilePairing
        /// A peripheral asks to pair as soon as it has paired.
        case askingAgain
        /// Whoever uses an adapter leaves before it is ready.
        case unusedAdapter
        /// A bonded device asks for the key of another bond.
        case otherKeys
        /// A device has lost its bond.
        case lostBonds
        /// Whoever answers for the person leaves while something is refused.
        case agentLeaves
        /// Operations are planned, and asked for when services have changed.
        case plannedUse
        /// Keys are renewed, and used on several links in both directions.
        case renewedKeys
        /// A bonded client comes again and again, also to a server that has restarted.
        case keptSubscriptions
        /// Services change while they are discovered, on links that end before anybody learns of it, and change back.
        case surveys
        /// Devices change their addresses while others pair with them and forget them.
        case privateAddresses
    }

    /// Adds an episode: to each world of the kind `episodes`, and to one of eight of the others. It is drawn from a generator
    /// of its own, so that the worlds without one do not depend on it. In three of four of them nothing else happens.
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

    /// Who is there: a server, a client with a second user and one that works with tasks, and a third device where it takes one.
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
        // One of them stays, to be looked at when all is quiet.
        case .indicatedChanges, .vanishingServices: devices[0].users.append(User(face: .calls))
        case .overlongFrames:
            // Frames of several packets.
            devices[0].preferredMTU = 247
            devices[1].preferredMTU = 247
            devices[0].bufferLength = 27
        // Commands wait in the controller while data comes.
        case .unusedAdapter, .endsWhilePairing: devices[1].responseDelay = .milliseconds(20)
        case .privateAddresses:
            for index in devices.indices where index != 1 || generator.oneIn(2) {
                devices[index].addressRotation = .milliseconds(1_300 + generator.below(5_000))
            }
        default: break
        }
        // With ciphers a server has a Database Hash.
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

    /// Whether a peripheral asks for the keys that it has, and no one else asks for any without a call to pair.
    var asksAgain: Bool {
        episode == .askingAgain
            && actions.allSatisfy { $0.step != nil || $0.kind == .connect || $0.kind == .removeBond }
    }

    /// What users do in an episode, and what goes wrong.
    struct Script {
        var actions: [Action] = []
        var faults: [Fault] = []
        var generator: SeededGenerator
    }
}

extension Scenario.Episode {
    /// Whether its devices can pair, and have a Database Hash.
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
    /// What a user does in an episode, exactly.
    enum Step: String, CaseIterable, Codable, Sendable {
        case advertiseOften
        /// Connects and leaves at once, and does so several times.
        case visit
        /// Connects and discovers at once; then the peer's service goes.
        case discoverAtOnce
        case subscribeToStream, subscribeForIndications, subscribeToCard
        /// Answers after seconds.
        case answerLate
        /// Reads or writes what the peer's application answers for.
        case useDynamic
        /// Reads a value that is longer than most PDUs.
        case readMuch
        /// Indicates more than may wait.
        case indicateMany
        /// Ends all links.
        case disconnectAll
        /// Leaves, and for good where nobody says otherwise.
        case leaveNow
        /// Answers for the person, willingly, with a host that pairs on demand, or only on call.
        case beWillingAgent, beAgentOnCall
        case readLocked
        case pairNow, pairForAuthentication
        /// Pairs as soon as the next pairing has ended.
        case pairAgain
        /// Pairs although there are keys.
        case renewKeys
        /// Plans an operation that is asked for later.
        case planUse
        /// Connects, discovers and leaves.
        case survey
        /// Has the services change on the next link, and change back at its end.
        case changeOnNextLink
        /// Scans for everything.
        case listen
        /// Connects to a peer where that is now.
        case meet
        case pairWithStrangers
    }
}
