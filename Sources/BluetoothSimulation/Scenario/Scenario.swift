import BluetoothBase

/// The devices of a world, the actions of their users, and the faults, each with its time. A scenario is a value that
/// is drawn from a seed, and that can be shrunk while it still fails.
public struct Scenario: Equatable, Codable, Sendable {
    /// The seed of everything that the scenario does not specify, such as the order of events at one instant and the
    /// octets of values.
    public var seed: UInt64
    /// The devices of the world. Actions and faults refer to them by their indices in this array.
    public var devices: [Device]
    /// The actions of all users, each with its time.
    public var actions: [Action]
    /// The faults of all devices, each with its time.
    public var faults: [Fault]
    /// The end of the last action or fault, after which the world comes to rest.
    public var end: Instant
    /// The security settings of each device; nil for a world without security.
    public var security: [Security]?
    /// Whether storing a bond takes time and can fail; nil means false. Only in worlds with security.
    var slowStorage: Bool?
    /// Whether the world has more faults and actions than others; nil means false.
    var hardship: Bool?
    /// Whether devices use L2CAP channels; nil means false.
    var channels: Bool?
    /// The episode that the world plays; nil for none.
    var episode: Episode?

    /// The security that a device offers, and requires, when it pairs.
    public struct Security: Equatable, Codable, Sendable {
        /// Whether the device offers LE Secure Connections (Core 5.4, Vol 3, Part H, 3.5.1).
        public var offersSecureConnections: Bool
        /// Whether the device refuses LE legacy pairing.
        public var requiresSecureConnections: Bool
        /// The smallest key size that the device accepts, in octets, 7 to 16.
        public var minimumKeySize: UInt8
        /// The largest key size that the device offers, in octets, 7 to 16.
        public var maximumKeySize: UInt8
    }

    /// A controller, its host and its users.
    public struct Device: Equatable, Codable, Sendable {
        /// The length of each of the controller's ACL data buffers, in octets.
        public var bufferLength: UInt16
        /// The number of the controller's ACL data buffers.
        public var bufferCount: UInt8
        /// Whether the controller supports host flow control (Core 5.4, Vol 4, Part E, 4.2).
        public var hasHostFlowControl: Bool
        /// The time the controller takes to answer a command.
        public var responseDelay: Duration
        /// The ATT_MTU the host offers.
        public var preferredMTU: UInt16
        /// The users of the device's adapter. Actions refer to them by their indices in this array.
        public var users: [User]
        /// Whether the controller does not scan while it initiates a connection; nil means false.
        public var isSingleMinded: Bool?
        /// Whether the controller gives each link a different handle from the one before; nil means false.
        public var changesHandles: Bool?
        /// Whether the controller supports extended advertising; nil means false.
        public var hasExtendedAdvertising: Bool?
        /// Whether the controller also supports periodic advertising; nil means false.
        public var hasPeriodicAdvertising: Bool?
        /// The time after which the host replaces its resolvable private address; nil if it uses its identity address.
        public var addressRotation: Duration?
    }

    /// A user of an adapter.
    public struct User: Equatable, Codable, Sendable {
        /// The API that the user calls.
        public var face: Face
    }

    /// The API that a user works with.
    public enum Face: String, CaseIterable, Codable, Sendable {
        /// The layer below both APIs: calls and events as values.
        case calls
        /// `BluetoothLE`, with tasks.
        case tasks
        /// `CoreBluetooth`, with managers that call delegates.
        case delegates
    }

    /// An action of a user.
    public struct Action: Equatable, Codable, Sendable {
        /// The virtual time of the action.
        public var instant: Instant
        /// The index of the user's device in `devices`.
        public var device: Int
        /// The index of the user in the device's `users`.
        public var user: Int
        /// The kind of action to perform.
        public var kind: Kind
        /// The seed of all parameters of the action. The link or characteristic it uses is chosen from those available
        /// at its instant.
        public var pick: UInt64
        /// The exact action, if the kind is `step`.
        var step: Step?

        /// The kinds of actions. Links, characteristics and values are not part of the kind: they follow from `pick`.
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
            /// Becomes the pairing agent, with randomly drawn behavior, or stops being it.
            case beAgent, beNoAgent
            /// Uses the characteristic for encrypted links.
            case useLocked
            case removeBond
            case cancelPairing
            /// Ends a link during pairing.
            case endPairing
            // In worlds with hardship only.
            /// Writes a Client Characteristic Configuration directly, regardless of its value.
            case configure
            /// Makes a call on a link that has ended.
            case useFormerLink
            /// Sends the beginning of a card, and then only empty parts.
            case dribble
            /// Sends more than may wait for a slow consumer.
            case burst
            /// Subscribes, and consumes nothing for a long time after the first value.
            case subscribeSlowly
            // In worlds with channels only.
            /// Opens one or more L2CAP channels to the peer's service.
            case openChannel
            case sendOverChannel, closeChannel, reconfigureChannel
            /// Stops consuming data of a channel, or resumes.
            case pauseChannel, resumeChannel
            /// A step of an episode.
            case step
            // In worlds with extended advertising only.
            /// Advertises a set, or stops one.
            case advertiseSet, stopSet
            // In worlds with periodic advertising only.
            /// Advertises a set with periodic advertising, changes its data, or stops it.
            case advertiseTrain, changeTrain, stopTrain
            /// Synchronizes to the periodic advertising of another device, or ends that.
            case synchronize, endSync
            /// Transfers periodic advertising to a peer, or accepts transfers from peers.
            case tellOfTrain, acceptTrains
            // In worlds with subevents only.
            /// Advertises a set with subevents, or connects to a device in one of them.
            case advertiseSubevents, connectInSubevent
        }
    }

    /// A fault in a world.
    public struct Fault: Equatable, Codable, Sendable {
        /// The virtual time at which the fault begins. With a `moment`, it begins at the first such packet after this
        /// time.
        public var instant: Instant
        /// The index of the affected device in `devices`. A `clockJump` affects all devices.
        public var device: Int
        /// The kind of fault to cause.
        public var kind: Kind
        /// The duration of the fault, for kinds that last.
        public var duration: Duration
        /// The seed of all parameters of the fault, such as the device that goes out of range.
        public var pick: UInt64
        /// The packet that triggers the fault; nil if it begins at `instant`.
        public var moment: Moment?

        /// The kind of packet that triggers a fault, when the host next receives one. Such a fault can strike in a
        /// state that lasts only for a moment.
        public enum Moment: String, CaseIterable, Codable, Sendable {
            case connection, disconnection, commandAnswer, data
        }

        /// The kinds of faults. Some happen once; the others last for the fault's `duration`.
        public enum Kind: String, CaseIterable, Codable, Sendable {
            /// Two devices do not receive each other.
            case outOfRange
            /// The controller is unplugged, and later plugged in again.
            case unplug
            case hardwareError
            /// The controller loses all links.
            case dropLinks
            /// The next connections that the controller initiates fail to be established.
            case failingConnections
            /// The controller ignores commands.
            case ignoredCommands
            /// No packet from the controller arrives at its host.
            case silence
            /// Faults of the transport and the controller from which hosts can recover.
            case weather
            /// Packets are truncated, lengthened and duplicated.
            case damage
            /// Data packets from the controller have invalid flags, or the rest of a frame never arrives.
            case lostFragments
            /// The device sends modified ATT and SMP PDUs.
            case broken
            /// The process is suspended.
            case stall
            /// The clock of all devices jumps.
            case clockJump
            /// The process ends abruptly, without notifying anyone, and restarts with its bonds. Only in worlds with
            /// security.
            case restart
            // In worlds with hardship only.
            /// The device answers no request and confirms no indication, without its host noticing.
            case unanswering
            /// The controller does not report the end of links that its host disconnects.
            case lostEnds
            /// The controller reports connections to other devices than the requested ones.
            case wrongPeers
            /// PDUs from peers arrive with excessive length, or a request arrives 1,300 times.
            case excess
            // In episodes only.
            /// Data for the host is longer than its frame specifies.
            case overlongFragments
            /// The host does not learn that its links have new connection parameters.
            case lostUpdates
            /// The controller takes long to begin performing a command.
            case slowCommands
            /// Completed packets are reported late to the host.
            case lateCompletions

            static let hardship: [Kind] = [
                .unanswering, .lostEnds, .wrongPeers, .excess, .overlongFragments, .lostUpdates, .slowCommands,
                .lateCompletions,
            ]
        }
    }
}

extension Scenario: CustomStringConvertible {
    /// The seed, the devices, and all actions and faults in the order of their times, one per line.
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
