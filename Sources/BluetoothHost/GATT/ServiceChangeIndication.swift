import BluetoothATT
import BluetoothBase

/// Indicates to the peer of a link which of this host's services have changed (Core 5.4, Vol 3, Part G, 7.1). While an
/// indication is unconfirmed, further changes are merged and wait.
struct ServiceChangeIndication: Hashable, Sendable {
    private enum Phase: Hashable {
        /// The peer knows the current services, or has not subscribed.
        case settled
        /// A change must be indicated.
        case owed(ClosedRange<AttributeHandle>)
        /// The peer has not confirmed the indication.
        case indicated
        /// The peer has not confirmed the indication, and another change must be indicated.
        case indicatedAndOwed(ClosedRange<AttributeHandle>)
    }

    private var phase = Phase.settled

    enum Event: Hashable {
        /// Services at these handles were added or removed.
        case changed(ClosedRange<AttributeHandle>)
        /// The fixed bearer can carry an indication again.
        case bearerFree
        /// The indication could not be sent.
        case notSent
        /// The peer has confirmed an indication of Service Changed.
        case confirmed
    }

    struct Context: Hashable {
        /// Whether the peer has subscribed to Service Changed.
        var isSubscribed: Bool
        /// Whether an indication may be sent, because none is unconfirmed.
        var isReady: Bool
    }

    enum Effect: Hashable {
        /// Sends an indication. `notSent` follows if that fails.
        case indicate(ClosedRange<AttributeHandle>)
        /// Notes that the peer knows the current services.
        case settle
    }

    /// Whether a change must still be indicated.
    var isOwed: Bool {
        switch phase {
        case .owed, .indicatedAndOwed: true
        case .settled, .indicated: false
        }
    }

    /// Whether the peer may be unaware of a change.
    var isPending: Bool { phase != .settled }

    mutating func handle(_ event: Event, _ context: Context) -> Effect? {
        switch event {
        case .changed(let handles):
            switch phase {
            case .settled: phase = .owed(handles)
            case .owed(let others): phase = .owed(others.union(handles))
            case .indicated: phase = .indicatedAndOwed(handles)
            case .indicatedAndOwed(let others): phase = .indicatedAndOwed(others.union(handles))
            }
            return advance(context)
        case .bearerFree: return advance(context)
        case .notSent:
            switch phase {
            case .indicated: phase = .settled
            case .indicatedAndOwed(let handles): phase = .owed(handles)
            case .settled, .owed: break
            }
            return nil
        case .confirmed:
            switch phase {
            case .settled, .indicated:
                phase = .settled
                return .settle
            case .indicatedAndOwed(let handles): phase = .owed(handles)
            case .owed: break
            }
            return nil
        }
    }

    /// Indicates a pending change, or drops it if the peer has not subscribed.
    private mutating func advance(_ context: Context) -> Effect? {
        switch phase {
        case .owed(let handles):
            guard context.isSubscribed else {
                phase = .settled
                return nil
            }
            return indicate(handles, context)
        case .indicatedAndOwed(let handles):
            guard context.isSubscribed else {
                phase = .indicated
                return nil
            }
            return indicate(handles, context)
        case .settled, .indicated: return nil
        }
    }

    private mutating func indicate(_ handles: ClosedRange<AttributeHandle>, _ context: Context) -> Effect? {
        guard context.isReady else { return nil }
        phase = .indicated
        return .indicate(handles)
    }
}

extension ClosedRange {
    fileprivate func union(_ other: Self) -> Self {
        Swift.min(lowerBound, other.lowerBound)...Swift.max(upperBound, other.upperBound)
    }
}

// MARK: - Transitions

extension ServiceChangeIndication: StateMachine {
    enum PhaseName: String, CaseIterable { case settled, owed, indicated, indicatedAndOwed }

    enum EventName: String, CaseIterable { case changed, bearerFree, notSent, confirmed }

    static let transitions: [Transition<Self>] = [
        Transition(.settled, .changed, .owed), Transition(.settled, .changed, .indicated),
        // The application has indicated the value itself.
        Transition(.settled, .confirmed, .settled),
        Transition(.owed, .changed, .owed), Transition(.owed, .changed, .indicated),
        Transition(.owed, .changed, .settled), Transition(.owed, .bearerFree, .indicated),
        Transition(.owed, .bearerFree, .settled),
        Transition(.indicated, .changed, .indicatedAndOwed), Transition(.indicated, .changed, .indicated),
        Transition(.indicated, .notSent, .settled), Transition(.indicated, .confirmed, .settled),
        Transition(.indicatedAndOwed, .changed, .indicatedAndOwed),
        Transition(.indicatedAndOwed, .changed, .indicated), Transition(.indicatedAndOwed, .bearerFree, .indicated),
        Transition(.indicatedAndOwed, .notSent, .owed), Transition(.indicatedAndOwed, .confirmed, .owed),
    ]

    var phaseName: PhaseName {
        switch phase {
        case .settled: .settled
        case .owed: .owed
        case .indicated: .indicated
        case .indicatedAndOwed: .indicatedAndOwed
        }
    }
}
