import BluetoothBase

/// What happens in a world: who is there, what they do, and what goes wrong, each at its time. A value that is drawn from
/// a seed, and that can be cut down while it still fails.
public struct Scenario: Equatable, Codable, Sendable {
    /// What all that was not drawn comes from: the order of things at one instant, the octets of values.
    public var seed: UInt64
    public var devices: [Device]
    public var actions: [Action]
    public var faults: [Fault]
    /// When the last action or fault is over, after which the world comes to rest.
    public var end: Instant
    /// What the devices bring into pairing; nil for a world without security.
    public var security: [Security]?
    /// Whether bonds take time to be stored, and cannot always be; nil for no. Only in worlds with security.
    var slowStorage: Bool?
    /// Whether more goes wrong, and is done, than in others; nil for no.
    var hardship: Bool?
    /// Whether there are L2CAP channels; nil for no.
    var channels: Bool?
    /// The episode that happens in it; nil for none.
    var episode: Episode?

    /// What a device brings into pairing, and accepts of it.
    public struct Security: Equatable, Codable, Sendable {
        public var offersSecureConnections: Bool
        public var requiresSecureConnections: Bool
        /// Keys in octets, 7 to 16.
        public var minimumKeySize: UInt8
        public var maximumKeySize: UInt8
    }

    /// A controller, its host and its users.
    public struct Device: Equatable, Codable, Sendable {
        /// The size and the number of the controller's buffers.
        public var bufferLength: UInt16
        public var bufferCount: UInt8
        public var hasHostFlowControl: Bool
        /// How long the controller takes to answer a command.
        public var responseDelay: Duration
        /// The ATT_MTU the host offers.
        public var preferredMTU: UInt16
        public var users: [User]
        /// Whether the controller does not scan while it connects; nil for no.
        public var isSingleMinded: Bool?
        /// Whether the controller gives each link another handle than the one before; nil for no.
        public var changesHandles: Bool?
        /// Whether the controller has extended advertising; nil for no.
        public var hasExtendedAdvertising: Bool?
        /// Whether it has periodic advertising beside that; nil for no.
        public var hasPeriodicAdvertising: Bool?
        /// How long the host uses a resolvable private address; nil where it uses its identity address.
        public var addressRotation: Duration?
    }

    /// A user of an adapter.
    public struct User: Equatable, Codable, Sendable {
        public var face: Face
    }

    /// The API through which a user works.
    public enum Face: String, CaseIterable, Codable, Sendable {
        /// The seam: calls and events as values.
        case calls
        /// `BluetoothLE`: tasks that wait.
        case tasks
        /// `CoreBluetooth`: managers that call their delegates.
        case delegates
    }

    /// Something that a user does.
    public struct Action: Equatable, Codable, Sendable {
        public var instant: Instant
        public var device: Int
        public var user: Int
        public var kind: Kind
        /// What all its parameters are drawn from. The link or the characteristic it is about is chosen among those
        /// there are when it happens.
        public var pick: UInt64
        /// What exactly is done, where the kind is `step`.
        var step: Step?

        public enum Kind: String, CaseIterable, Codable, Sendable {
            case advertise, stopAdvertising, scan, stopScanning
            case connect, release, disconnect, cancel
            case discover, read, readLong, readByUUID, readMultiple
            case write, writeLong, writeReliably, writeCommands
            case subscribe, unsubscribe
            case notify, indicate, update, card
            case readRSSI, updateParameters
            case hold, resume, dawdle
            case publish, withdraw
            case leave, join
            // In worlds with security only.
            /// Pairs, or encrypts with the key of a bond.
            case pair
            /// Begins to answer for the person, in a way that is drawn, or stops.
            case beAgent, beNoAgent
            /// Uses the characteristic for encrypted links.
            case useLocked
            case removeBond
            case cancelPairing
            /// Ends a link on which a pairing is under way.
            case endPairing
            // In worlds with hardship only.
            /// Writes a Client Characteristic Configuration by itself, whatever it was before.
            case configure
            /// Makes a call on a link that has ended.
            case useFormerLink
            /// Sends the beginning of a card, and then empty parts.
            case dribble
            /// Sends more than may wait for a slow consumer.
            case burst
            /// Subscribes, and takes nothing for a long time after the first value.
            case subscribeSlowly
            // In worlds with channels only.
            /// Opens an L2CAP channel to the peer's service, or several at once.
            case openChannel
            case sendOverChannel, closeChannel, reconfigureChannel
            /// Takes nothing of what comes over a channel, or all of it again.
            case pauseChannel, resumeChannel
            /// A step of an episode.
            case step
            // In worlds with extended advertising only.
            /// Advertises a set, or stops one.
            case advertiseSet, stopSet
            // In worlds with periodic advertising only.
            /// Advertises a set with periodic advertising, changes its data, or stops it.
            case advertiseTrain, changeTrain, stopTrain
            /// Receives the periodic advertising of another device, or does so no longer.
            case synchronize, endSync
            /// Tells a peer of periodic advertising, or takes what a peer tells of.
            case tellOfTrain, acceptTrains
            // In worlds with subevents only.
            /// Advertises a set whose periodic advertising has subevents, or connects to a device in one of them.
            case advertiseSubevents, connectInSubevent
        }
    }

    /// Something that goes wrong.
    public struct Fault: Equatable, Codable, Sendable {
        public var instant: Instant
        public var device: Int
        public var kind: Kind
        /// How long it lasts, where it lasts.
        public var duration: Duration
        public var pick: UInt64
        /// What it waits for, where it waits; nil where it begins at its instant.
        public var moment: Moment?

        /// The next packet of a kind that a host receives: a fault that strikes there finds what lasts a moment.
        public enum Moment: String, CaseIterable, Codable, Sendable {
            case connection, disconnection, commandAnswer, data
        }

        public enum Kind: String, CaseIterable, Codable, Sendable {
            /// Two devices do not receive each other.
            case outOfRange
            /// The controller is unplugged, and plugged in again.
            case unplug
            case hardwareError
            /// The controller loses its links.
            case dropLinks
            /// The next connections of a controller fail to be established.
            case failingConnections
            /// The controller answers no command.
            case ignoredCommands
            /// Nothing of what the controller sends arrives.
            case silence
            /// Faults of the transport and the controller that hosts recover from.
            case weather
            /// Packets are cut, lengthened and doubled.
            case damage
            /// Data packets of a controller have impossible flags, or the rest of a frame never comes.
            case lostFragments
            /// The device sends changed ATT PDUs.
            case broken
            /// The process gets no time.
            case stall
            /// The clock of everybody jumps.
            case clockJump
            /// The process ends at once, without a word to anybody, and starts again with its bonds. Only in worlds with
            /// security.
            case restart
            // In worlds with hardship only.
            /// The device answers no request, confirms nothing, and does not know of it.
            case unanswering
            /// The controller does not report the ends of links that its host ends.
            case lostEnds
            /// The controller connects to other devices than those asked for.
            case wrongPeers
            /// The device sends PDUs that are too long, or a request a thousand times.
            case excess
            // In episodes only.
            /// Data for the host is longer than its frame says.
            case overlongFragments
            /// The host does not learn that the parameters of its links have changed.
            case lostUpdates
            /// The controller takes long to begin with a command.
            case slowCommands
            /// The host learns late that its packets have been sent.
            case lateCompletions

            static let hardship: [Kind] = [
                .unanswering, .lostEnds, .wrongPeers, .excess, .overlongFragments, .lostUpdates, .slowCommands,
                .lateCompletions,
            ]
        }
    }
}

extension Scenario: CustomStringConvertible {
    public var description: String {
        var lines = ["seed \(seed)"]
        lines += devices.enumerated().map { index, device in
            let users = device.users.map(\.face.rawValue).joined(separator: ", ")
            return "device \(index): \(device.bufferCount) buffers of \(device.bufferLength), "
                + "ATT_MTU \(device.preferredMTU), answers after \(device.responseDelay), users: \(users)"
        }
        let actions = actions.map { action in
            let name = action.step?.rawValue ?? action.kind.rawValue
            return (action.instant, "device \(action.device) user \(action.user): \(name) (\(action.pick))")
        }
        let faults = faults.map { fault in
            (fault.instant, "device \(fault.device): \(fault.kind.rawValue) for \(fault.duration) (\(fault.pick))")
        }
        let all = (actions + faults).sorted { $0.0 < $1.0 }
        lines += all.map { "\($0.0.nanoseconds / 1_000_000) ms: \($0.1)" }
        return lines.joined(separator: "\n")
    }
}
