import BluetoothBase

/// The random address of a host with privacy: the address that the controller uses, and the time at which it will be
/// replaced.
///
/// On a host without privacy, the phase stays `absent`.
struct PrivateAddress: Hashable, Sendable {
    /// The address that the controller uses until it gets the new one.
    private struct Former: Hashable, Sendable {
        /// Nil if the controller has no address yet.
        var address: DeviceAddress?
        /// The time at which this address would have been replaced anyway.
        var end: Instant?
    }

    private enum Phase: Hashable, Sendable {
        /// No controller is up.
        case absent
        /// The controller needs a new address.
        case due(Former)
        /// LE Set Random Address is pending.
        case setting(DeviceAddress, Former)
        /// LE Set Random Address is pending, but a newer address is already due. This one must be replaced soon.
        case settingOutdated(DeviceAddress, Former)
        case inUse(DeviceAddress, until: Instant)
        /// The controller has refused its first address, and gets another one at the given time.
        case refused(until: Instant)
    }

    private var phase = Phase.absent

    /// The delay before another address is tried after a refusal.
    private static let retryDelay = Duration.seconds(1)

    /// The address that the controller uses; nil if it has none.
    var current: DeviceAddress? {
        switch phase {
        case .absent, .refused: nil
        case .due(let former), .setting(_, let former), .settingOutdated(_, let former): former.address
        case .inUse(let address, _): address
        }
    }

    /// The time at which a new address becomes due.
    var nextDeadline: Instant? {
        switch phase {
        case .absent: nil
        case .due(let former), .setting(_, let former), .settingOutdated(_, let former): former.end
        case .inUse(_, let end), .refused(let end): end
        }
    }

    /// Whether the radio must stay idle until the controller has a new address.
    var isPending: Bool {
        switch phase {
        case .absent, .inUse: false
        case .due, .setting, .settingOutdated, .refused: true
        }
    }

    /// Whether LE Set Random Address is pending.
    var isBeingSet: Bool {
        switch phase {
        case .setting, .settingOutdated: true
        case .absent, .due, .inUse, .refused: false
        }
    }

    /// Starts with a controller that has just come up, without an address.
    mutating func start() {
        guard case .absent = phase else { return }
        phase = .due(Former())
    }

    /// Replaces the address.
    mutating func renew() {
        switch phase {
        case .absent, .due, .settingOutdated: break
        case .setting(let address, let former): phase = .settingOutdated(address, former)
        case .inUse(let address, let end): phase = .due(Former(address: address, end: end))
        case .refused(let end): phase = .due(Former(end: end))
        }
    }

    /// Replaces the address when its rotation time has passed.
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

    /// Generates the address to send to the controller; nil if none is due.
    ///
    /// - Parameter makeAddress: generates a new address; nil if it cannot.
    mutating func advance(_ makeAddress: () -> DeviceAddress?) -> DeviceAddress? {
        guard case .due(let former) = phase, let address = makeAddress() else { return nil }
        phase = .setting(address, former)
        return address
    }

    /// Handles the controller's answer to the new address.
    ///
    /// - Parameter rotation: the time for which an address is used.
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

    /// Handles the loss or a reset of the controller.
    mutating func reset() { phase = .absent }
}

extension PrivateAddress: StateMachine {
    enum PhaseName: String, CaseIterable, Hashable, Sendable {
        case absent, due, setting, settingOutdated, inUse, refused
    }

    enum EventName: String, CaseIterable, Hashable, Sendable {
        case start
        /// The radio is idle, and a new address can be generated.
        case advance
        /// The answer to LE Set Random Address.
        case accepted, rejected
        /// The address must no longer be used.
        case renew
        /// The rotation time has passed.
        case expire
        case reset
    }

    static let transitions: [Transition<PrivateAddress>] =
        [
            Transition(.absent, .start, .due),
            Transition(.due, .advance, .setting),
            Transition(.due, .expire, .due),
            Transition(.setting, .accepted, .inUse),
            // The controller keeps its previous address, if it had one.
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
