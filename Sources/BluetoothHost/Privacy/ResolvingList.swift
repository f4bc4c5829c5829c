import BluetoothBase
import BluetoothHCI
import BluetoothSMP

/// The controller's list of peers whose private addresses it resolves: the entries that the host wants, and the commands that lead
/// there, one at a time (Core 5.4, Vol 4, Part E, 7.8.38 to 7.8.45).
struct ResolvingList: Hashable, Sendable {
    struct Entry: Hashable, Sendable {
        /// Public or random.
        let identity: DeviceAddress
        let peerIRK: UInt128
        let localIRK: UInt128

        init(_ peer: DeviceIdentity, localIRK: UInt128) {
            identity = PeerID(peer.address).firstAddress
            peerIRK = peer.resolvingKey
            self.localIRK = localIRK
        }
    }

    /// The abilities of a controller.
    struct Abilities: Hashable, Sendable {
        /// How many entries it takes; 0 if it resolves no addresses.
        var capacity: Int
        var setsPrivacyMode: Bool
        var setsTimeout: Bool
    }

    private enum Step: Hashable, Sendable {
        case remove(Entry)
        case add(Entry)
        case setMode(Entry)
        case setTimeout(Duration)
        case enable
    }

    /// The list in the controller.
    private struct Contents: Hashable, Sendable {
        enum Stage: Hashable, Sendable {
            /// The controller must first learn for how long it uses an address of its own making.
            case timeoutDue(Duration)
            case disabled
            /// It resolves addresses, and stays so until a reset.
            case enabled
        }

        var entries: [Entry] = []
        /// How many entries to use.
        var capacity: Int
        let setsPrivacyMode: Bool
        var stage: Stage
    }

    private enum Phase: Hashable, Sendable {
        /// No controller is up.
        case absent
        /// The controller has all that is wanted.
        case current(Contents)
        case due(Step, Contents)
        /// The command of this step is with the controller.
        case changing(Step, Contents)
    }

    private let mode: PeerPrivacyMode
    /// For how long an address is used; nil on a host without privacy.
    private let rotation: Duration?
    /// The entries of the bonds, which are listed in this order as far as there is room.
    private var wanted: [Entry] = []
    private var phase = Phase.absent

    /// The maximum number of entries to use: each takes a command or two, and a controller that has more room searches longer.
    static let maximumEntries = 64

    init(_ mode: PeerPrivacyMode, rotation: Duration?) { (self.mode, self.rotation) = (mode, rotation) }

    private var contents: Contents? {
        switch phase {
        case .absent: nil
        case .current(let contents), .due(_, let contents), .changing(_, let contents): contents
        }
    }

    /// Whether the controller resolves the addresses of a peer.
    func contains(_ identity: DeviceIdentity) -> Bool {
        guard let contents, contents.stage == .enabled else { return false }
        let address = PeerID(identity.address).firstAddress
        return contents.entries.contains { $0.identity == address && $0.peerIRK == identity.resolvingKey }
    }

    /// Whether the controller uses private addresses of its own making where it can.
    var isInUse: Bool { contents.map { $0.stage == .enabled && !$0.entries.isEmpty } ?? false }

    /// Whether the controller knows privacy modes.
    var hasPrivacyModes: Bool { contents?.setsPrivacyMode ?? false }

    /// Whether the controller's list must still be changed.
    var isPending: Bool {
        switch phase {
        case .absent, .current: false
        case .due, .changing: true
        }
    }

    /// Whether a command is with the controller.
    var isChanging: Bool {
        if case .changing = phase { true } else { false }
    }

    // MARK: Calls

    /// A controller with an empty list is up.
    mutating func start(_ abilities: Abilities) {
        guard case .absent = phase else { return }
        let capacity = min(abilities.capacity, Self.maximumEntries)
        var stage = Contents.Stage.disabled
        if let rotation, abilities.setsTimeout, capacity > 0 { stage = .timeoutDue(rotation) }
        settle(Contents(capacity: capacity, setsPrivacyMode: abilities.setsPrivacyMode, stage: stage))
    }

    /// The bonds have changed, or this host's own key.
    mutating func want(_ entries: [Entry]) {
        wanted = entries
        switch phase {
        // An entry has its mode before anything else changes.
        case .absent, .due(.setMode, _), .changing: break
        case .current(let contents), .due(_, let contents): settle(contents)
        }
    }

    /// The controller was reset.
    mutating func reset() { phase = .absent }

    private mutating func settle(_ contents: Contents) {
        phase = next(contents).map { .due($0, contents) } ?? .current(contents)
    }

    /// The next change; nil if the controller has all that is wanted.
    private func next(_ contents: Contents) -> Step? {
        let target = wanted.prefix(contents.capacity)
        if let entry = contents.entries.first(where: { !target.contains($0) }) { return .remove(entry) }
        if let entry = target.first(where: { !contents.entries.contains($0) }) { return .add(entry) }
        return switch contents.stage {
        case .timeoutDue(let rotation): .setTimeout(rotation)
        case .disabled: contents.entries.isEmpty ? nil : .enable
        case .enabled: nil
        }
    }

    // MARK: The controller

    /// The next command; nil if none is due, or one is with the controller.
    mutating func advance() -> (any HCICommand)? {
        guard case .due(let step, let contents) = phase else { return nil }
        phase = .changing(step, contents)
        switch step {
        case .remove(let entry): return LERemoveDeviceFromResolvingList(peerIdentityAddress: entry.identity)
        case .add(let entry):
            return LEAddDeviceToResolvingList(
                peerIdentityAddress: entry.identity, peerIRK: entry.peerIRK, localIRK: entry.localIRK)
        case .setMode(let entry): return LESetPrivacyMode(peerIdentityAddress: entry.identity, mode: .device)
        case .setTimeout(let rotation):
            return LESetResolvablePrivateAddressTimeout(seconds: UInt16(clamping: rotation.components.seconds))
        case .enable: return LESetAddressResolutionEnable(isEnabled: true)
        }
    }

    /// Takes the controller's answer to the command.
    mutating func answered(_ isAccepted: Bool) {
        guard case .changing(let step, var contents) = phase else { return }
        switch step {
        // Whatever it answers, the entry must not be relied on.
        case .remove(let entry): contents.entries.removeAll { $0 == entry }
        case .add(let entry) where isAccepted:
            contents.entries.append(entry)
            if mode == .device, contents.setsPrivacyMode {
                phase = .due(.setMode(entry), contents)
                return
            }
        // It has less room than it reports. The host resolves the rest.
        case .add: contents.capacity = min(contents.capacity, contents.entries.count)
        case .setMode: break
        case .setTimeout: contents.stage = .disabled
        case .enable where isAccepted: contents.stage = .enabled
        case .enable: (contents.capacity, contents.entries) = (0, [])
        }
        settle(contents)
    }
}

extension ResolvingList: StateMachine {
    enum PhaseName: String, CaseIterable, Hashable, Sendable {
        case absent, current, due, adding, settingMode, settingTimeout, enabling, removing
    }

    enum EventName: String, CaseIterable, Hashable, Sendable {
        case start
        /// The bonds or this host's key have changed.
        case want
        /// The radio is idle.
        case advance
        /// The answers to a command.
        case accepted, rejected
        case reset
    }

    static let transitions: [Transition<ResolvingList>] =
        [
            Transition(.absent, .want, .absent),
            Transition(.absent, .start, .current),
            Transition(.absent, .start, .due),
            Transition(.current, .want, .current),
            Transition(.current, .want, .due),
            Transition(.due, .want, .due),
            Transition(.due, .want, .current),
            Transition(.due, .advance, .adding),
            Transition(.due, .advance, .settingMode),
            Transition(.due, .advance, .settingTimeout),
            Transition(.due, .advance, .enabling),
            Transition(.due, .advance, .removing),
        ]
        + [PhaseName.adding, .settingMode, .settingTimeout, .enabling, .removing].flatMap { phase in
            [
                Transition(phase, .want, phase), Transition(phase, .accepted, .current),
                Transition(phase, .accepted, .due), Transition(phase, .rejected, .current),
            ]
        }
        // A controller that refuses to enable its list is left alone.
        + [PhaseName.adding, .settingMode, .settingTimeout, .removing].map { Transition($0, .rejected, .due) }
        + PhaseName.allCases.filter { $0 != .absent }.map { Transition($0, .reset, .absent) }

    var phaseName: PhaseName {
        switch phase {
        case .absent: .absent
        case .current: .current
        case .due: .due
        case .changing(.add, _): .adding
        case .changing(.setMode, _): .settingMode
        case .changing(.setTimeout, _): .settingTimeout
        case .changing(.enable, _): .enabling
        case .changing(.remove, _): .removing
        }
    }
}
