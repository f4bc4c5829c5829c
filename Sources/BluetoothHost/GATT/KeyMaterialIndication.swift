import BluetoothBase

/// Indicates the Encrypted Data Key Material to the peer of a link after it has changed (Core 5.4, Vol 3, Part C,
/// 12.6).
struct KeyMaterialIndication: Hashable, Sendable {
    private enum Phase: Hashable {
        /// The peer has the current key material, or has not subscribed to it.
        case settled
        /// The key material has changed, and must be indicated.
        case owed
    }

    private var phase = Phase.settled

    enum Event: Hashable {
        case changed(isSubscribed: Bool)
        /// The fixed bearer can carry an indication again.
        case bearerFree(isSubscribed: Bool)
        /// Another indication is unconfirmed.
        case bearerBusy
    }

    enum Effect: Hashable {
        /// Sends an indication. `bearerBusy` follows if another one is unconfirmed.
        case indicate
    }

    var isOwed: Bool { phase == .owed }

    mutating func handle(_ event: Event) -> Effect? {
        switch event {
        case .changed(let isSubscribed):
            phase = .settled
            return isSubscribed ? .indicate : nil
        case .bearerFree(let isSubscribed):
            guard phase == .owed else { return nil }
            phase = .settled
            return isSubscribed ? .indicate : nil
        case .bearerBusy:
            phase = .owed
            return nil
        }
    }
}

// MARK: - Transitions

extension KeyMaterialIndication: StateMachine {
    enum PhaseName: String, CaseIterable { case settled, owed }

    enum EventName: String, CaseIterable { case changed, bearerFree, bearerBusy }

    static let transitions: [Transition<Self>] = [
        Transition(.settled, .changed, .settled), Transition(.settled, .bearerBusy, .owed),
        Transition(.owed, .changed, .settled), Transition(.owed, .bearerFree, .settled),
    ]

    var phaseName: PhaseName {
        switch phase {
        case .settled: .settled
        case .owed: .owed
        }
    }
}
