import BluetoothBase
import BluetoothHCI
import BluetoothSMP

/// The controller's resolving list of peers whose private addresses it resolves: the entries that the host wants, and
/// the commands that update the list, one at a time (Core 5.4, Vol 4, Part E, 7.8.38 to 7.8.45).
struct ResolvingList: Hashable, Sendable {
    struct Entry: Hashable, Sendable {
        /// The identity address: public or static random.
        let identity: DeviceAddress
        let peerIRK: UInt128
        let localIRK: UInt128

        init(_ peer: DeviceIdentity, localIRK: UInt128) {
            identity = PeerID(peer.address).firstAddress
            peerIRK = peer.resolvingKey
            self.localIRK = localIRK
        }
    }

    /// The capabilities of a controller.
    struct Abilities: Hashable, Sendable {
        /// The number of entries that the list can hold; 0 if the controller resolves no addresses.
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

    /// The contents of the controller's list.
    private struct Contents: Hashable, Sendable {
        enum Stage: Hashable, Sendable {
            /// The rotation time of the private addresses that the controller generates must be set first.
            case timeoutDue(Duration)
            case disabled
            /// Address resolution is enabled, and stays so until a reset.
            case enabled
        }

        var entries: [Entry] = []
        /// The maximum number of entries to use.
        var capacity: Int
        let setsPrivacyMode: Bool
        var stage: Stage
    }

    private enum Phase: Hashable, Sendable {
        /// No controller is up.
        case absent
        /// The list matches the wanted entries.
        case current(Contents)
        case due(Step, Contents)
        /// The command of this step is pending.
        case changing(Step, Contents)
    }

    private let mode: PeerPrivacyMode
    /// The rotation time of private addresses; nil on a host without privacy.
    private let rotation: Duration?
    /// The entries for the bonds. They are listed in this order, as far as there is room.
    private var wanted: [Entry] = []
    private var phase = Phase.absent

    /// The maximum number of entries to use. Each needs one or two commands, and a controller takes longer to search a
    /// longer list.
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

    /// Whether the controller generates private addresses itself if it can.
    var isInUse: Bool { contents.map { $0.stage == .enabled && !$0.entries.isEmpty } ?? false }

    /// Whether the controller supports privacy modes.
    var hasPrivacyModes: Bool { contents?.setsPrivacyMode ?? false }

    /// Whether the controller's list must still be changed.
    var isPending: Bool {
        switch phase {
        case .absent, .current: false
        case .due, .changing: true
        }
    }

    /// Whether a command is pending.
    var isChanging: Bool {
        if case .changing = phase { true } else { false }
    }

    // MARK: Calls

    /// Starts with a controller that has just come up, with an empty list.
    mutating func start(_ abilities: Abilities) {
        guard case .absent = phase else { return }
        let capacity = min(abilities.capacity, Self.maximumEntries)
        var stage = Contents.Stage.disabled
        if let rotation, abilities.setsTimeout, capacity > 0 { stage = .timeoutDue(rotation) }
        settle(Contents(capacity: capacity, setsPrivacyMode: abilities.setsPrivacyMode, stage: stage))
    }

    /// Updates the wanted entries, because the bonds or this host's own key have changed.
    mutating func want(_ entries: [Entry]) {
        wanted = entries
        switch phase {
        // The privacy mode of a new entry must be set before anything else changes.
        case .absent, .due(.setMode, _), .changing: break
        case .current(let contents), .due(_, let contents): settle(contents)
        }
    }

    /// Handles a reset of the controller.
    mutating func reset() { phase = .absent }

    private mutating func settle(_ contents: Contents) {
        phase = next(contents).map { .due($0, contents) } ?? .current(contents)
    }

    /// The next change; nil if the list matches the wanted entries.
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

    /// The next command; nil if none is due, or if one is pending.
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

    /// Handles the controller's answer to the command.
    mutating func answered(_ isAccepted: Bool) {
        guard case .changing(let step, var contents) = phase else { return }
        switch step {
        // Whatever the answer is, the entry can no longer be relied on.
        case .remove(let entry): contents.entries.removeAll { $0 == entry }
        case .add(let entry) where isAccepted:
            contents.entries.append(entry)
            if mode == .device, contents.setsPrivacyMode {
                phase = .due(.setMode(entry), contents)
                return
            }
        // The controller has less room than it reports. The host resolves the remaining addresses.
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
        /// The bonds or this host's own key have changed.
        case want
        /// The radio is idle.
        case advance
        /// The answer to a command.
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
        // If a controller refuses to enable its list, the host stops using the list.
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
