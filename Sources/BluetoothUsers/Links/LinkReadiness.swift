import BluetoothBase
import BluetoothHost

/// The lifetime of a link as seen by the users of a shared host: when they get it, and when it ends.
struct LinkReadiness: StateMachine {
    /// What remains to be done before waiting users get the link.
    enum Progress: Hashable, Sendable {
        /// The ATT_MTU is being exchanged.
        case exchanging
        /// The exchange is complete, and the link is being encrypted with a bond's key.
        case protecting
        /// The waiting users have the link. Other users get it immediately.
        case ready
        /// Encryption with the bond's key failed, so the host disconnects. No user gets the link any more.
        case refused
    }

    private enum Phase: Hashable, Sendable {
        case open(Progress)
        /// The host was asked to disconnect. Users that wait for the link may still get it before it ends.
        case ending(Progress)
        case gone
    }

    enum Event: Hashable, Sendable {
        case exchangeOver
        /// No pairing is in progress, and no encryption is starting.
        case protectionSettled
        /// The host, as the central, is encrypting the link again.
        case protectionLost
        case bondRefused
        case endRequested
        case ended
    }

    private var phase: Phase

    /// A central exchanges the ATT_MTU first. The users of a peripheral need not wait for the central to do so.
    init(_ role: LinkRole) { phase = .open(role == .central ? .exchanging : .ready) }

    /// False once the link has ended.
    @inline(__always)
    var isInUse: Bool { phase != .gone }

    /// Whether users that request the link get it immediately.
    var isReady: Bool { progress == .ready }

    /// Whether users may join the link.
    var isUsable: Bool {
        switch phase {
        case .open(let progress): progress != .refused
        case .ending, .gone: false
        }
    }

    /// Whether the host was asked to disconnect.
    var isEnding: Bool { if case .ending = phase { true } else { false } }

    /// Whether requests may be sent to the peer.
    var mayAsk: Bool { if case .open = phase { true } else { false } }

    /// Whether the ATT_MTU exchange is complete, but the waiting users do not have the link yet.
    var awaitsProtection: Bool { progress == .protecting }

    private var progress: Progress? {
        switch phase {
        case .open(let progress), .ending(let progress): progress
        case .gone: nil
        }
    }

    /// - Returns: whether the waiting users get the link now.
    mutating func handle(_ event: Event) -> Bool {
        let wasReady = isReady
        switch (phase, event) {
        case (.gone, _): break
        case (_, .ended): phase = .gone
        case (.open(let progress), .endRequested): phase = .ending(progress)
        case (.ending, .endRequested): break
        case (.open(let progress), _): phase = .open(progress.after(event))
        case (.ending(let progress), _): phase = .ending(progress.after(event))
        }
        return isReady && !wasReady
    }
}

extension LinkReadiness.Progress {
    /// The progress after an event that does not end the link.
    fileprivate func after(_ event: LinkReadiness.Event) -> Self {
        switch (self, event) {
        case (.exchanging, .exchangeOver): .protecting
        case (.protecting, .protectionSettled): .ready
        case (.ready, .protectionLost): .protecting
        case (_, .bondRefused): .refused
        case (.exchanging, _), (.protecting, _), (.ready, _), (.refused, _): self
        }
    }
}

extension LinkReadiness {
    package enum PhaseName: String, CaseIterable, Sendable {
        case exchanging, protecting, ready, refused, ending, gone
    }

    package enum EventName: String, CaseIterable, Sendable {
        case exchangeOver, protectionSettled, protectionLost, bondRefused, endRequested, ended
    }

    package var phaseName: PhaseName {
        switch phase {
        case .open(.exchanging): .exchanging
        case .open(.protecting): .protecting
        case .open(.ready): .ready
        case .open(.refused): .refused
        case .ending: .ending
        case .gone: .gone
        }
    }

    package static var transitions: [Transition<LinkReadiness>] {
        [
            Transition(.exchanging, .exchangeOver, .protecting), Transition(.exchanging, .bondRefused, .refused),
            Transition(.exchanging, .endRequested, .ending), Transition(.exchanging, .ended, .gone),
            Transition(.protecting, .protectionSettled, .ready), Transition(.protecting, .bondRefused, .refused),
            Transition(.protecting, .endRequested, .ending), Transition(.protecting, .ended, .gone),
            Transition(.ready, .protectionLost, .protecting), Transition(.ready, .bondRefused, .refused),
            Transition(.ready, .endRequested, .ending), Transition(.ready, .ended, .gone),
            Transition(.refused, .endRequested, .ending), Transition(.refused, .ended, .gone),
            Transition(.ending, .exchangeOver, .ending), Transition(.ending, .protectionSettled, .ending),
            Transition(.ending, .protectionLost, .ending), Transition(.ending, .bondRefused, .ending),
            Transition(.ending, .ended, .gone),
        ]
    }
}
