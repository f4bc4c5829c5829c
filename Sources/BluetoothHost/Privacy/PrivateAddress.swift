import BluetoothBase

/// The random address of a host with privacy: the one that the controller knows, and when it will be replaced.
///
/// Unless the host has privacy, it stays absent.
struct PrivateAddress: Hashable, Sendable {
    /// What the controller uses while another address is due.
    private struct Former: Hashable, Sendable {
        /// Nil if the controller knows none yet.
        var address: DeviceAddress?
        /// When it would have been replaced anyway.
        var end: Instant?
    }

    private enum Phase: Hashable, Sendable {
        /// No controller is up.
        case absent
        /// The controller must learn a new address.
        case due(Former)
        /// LE Set Random Address is with the controller.
        case setting(DeviceAddress, Former)
        /// The same, but that address must not be used for long: another one has become due meanwhile.
        case settingOutdated(DeviceAddress, Former)
        case inUse(DeviceAddress, until: Instant)
        /// The controller has refused its first address, and gets another one then.
        case refused(until: Instant)
    }

    private var phase = Phase.absent

    /// How long to wait before a refused address is tried again.
    private static let retryDelay = Duration.seconds(1)

    /// The address that the controller knows; nil if it knows none.
    var current: DeviceAddress? {
        switch phase {
        case .absent, .refused: nil
        case .due(let former), .setting(_, let former), .settingOutdated(_, let former): former.address
        case .inUse(let address, _): address
        }
    }

    /// When the address becomes due.
    var nextDeadline: Instant? {
        switch phase {
        case .absent: nil
        case .due(let former), .setting(_, let former), .settingOutdated(_, let former): former.end
        case .inUse(_, let end), .refused(let end): end
        }
    }

    /// Whether the radio must stay idle until the controller has another address.
    var isPending: Bool {
        switch phase {
        case .absent, .inUse: false
        case .due, .setting, .settingOutdated, .refused: true
        }
    }

    /// Whether a command is with the controller.
    var isBeingSet: Bool {
        switch phase {
        case .setting, .settingOutdated: true
        case .absent, .due, .inUse, .refused: false
        }
    }

    /// A controller without an address is up.
    mutating func start() {
        guard case .absent = phase else { return }
        phase = .due(Former())
    }

    /// The address will no longer be used.
    mutating func renew() {
        switch phase {
        case .absent, .due, .settingOutdated: break
        case .setting(let address, let former): phase = .settingOutdated(address, former)
        case .inUse(let address, let end): phase = .due(Former(address: address, end: end))
        case .refused(let end): phase = .due(Former(end: end))
        }
    }

    /// Renews the address when its time is over.
    mutating func fire(at now: Instant) {
        guard let end = nextDeadline, end <= now else { return }
        switch phase {
        case .absent: break
        case .due(let former): phase = .due(Former(address: former.address))
        case .setting(let address, let former), .settingOutdated(let address, let former):
            phase = .settingOutdated(address, Former(address: former.address))
        case .inUse(let address, _): phase = .due(Former(address: address))
        case .refused: phase = .due(Former())
        }
    }

    /// The address that the controller must learn now; nil if none is due.
    ///
    /// - Parameter makeAddress: makes a fresh address; nil where it cannot.
    mutating func advance(_ makeAddress: () -> DeviceAddress?) -> DeviceAddress? {
        guard case .due(let former) = phase, let address = makeAddress() else { return nil }
        phase = .setting(address, former)
        return address
    }

    /// Takes the controller's answer to the new address.
    ///
    /// - Parameter rotation: how long an address is used.
    mutating func answered(_ isAccepted: Bool, rotation: Duration?, at now: Instant) {
        let end = now.advanced(by: isAccepted ? rotation ?? Self.retryDelay : Self.retryDelay)
        switch phase {
        case .setting(let address, let former):
            let current = isAccepted ? address : former.address
            phase = current.map { .inUse($0, until: end) } ?? .refused(until: end)
        case .settingOutdated(let address, let former):
            phase = .due(Former(address: isAccepted ? address : former.address, end: end))
        case .absent, .due, .inUse, .refused: break
        }
    }

    /// The controller is gone, or has forgotten the address.
    mutating func reset() { phase = .absent }
}

extension PrivateAddress: StateMachine {
    enum PhaseName: String, CaseIterable, Hashable, Sendable {
        case absent, due, setting, settingOutdated, inUse, refused
    }

    enum EventName: String, CaseIterable, Hashable, Sendable {
        case start
        /// The radio is idle, and a fresh address can be made.
        case advance
        /// The answers to LE Set Random Address.
        case accepted, rejected
        /// The address must no longer be used.
        case renew
        /// The time of the address is over.
        case expire
        case reset
    }

    static let transitions: [Transition<PrivateAddress>] =
        [
            Transition(.absent, .start, .due),
            Transition(.due, .advance, .setting),
            Transition(.due, .expire, .due),
            Transition(.setting, .accepted, .inUse),
            // The controller keeps the one before, if any.
            Transition(.setting, .rejected, .inUse),
            Transition(.setting, .rejected, .refused),
            Transition(.setting, .renew, .settingOutdated),
            Transition(.setting, .expire, .settingOutdated),
            Transition(.settingOutdated, .accepted, .due),
            Transition(.settingOutdated, .rejected, .due),
            Transition(.settingOutdated, .expire, .settingOutdated),
            Transition(.inUse, .renew, .due),
            Transition(.inUse, .expire, .due),
            Transition(.refused, .renew, .due),
            Transition(.refused, .expire, .due),
        ] + PhaseName.allCases.filter { $0 != .absent }.map { Transition($0, .reset, .absent) }

    var phaseName: PhaseName {
        switch phase {
        case .absent: .absent
        case .due: .due
        case .setting: .setting
        case .settingOutdated: .settingOutdated
        case .inUse: .inUse
        case .refused: .refused
        }
    }
}
