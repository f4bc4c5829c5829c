/// Decides, with a single table, whether each activity may run while others use the radio.
///
/// A controller does not report which activities it can combine: some refuse to scan while they initiate a connection,
/// or to advertise while they have links. The host remembers such a refusal, and the activity that has to yield waits
/// until the other one has ended.
struct RadioArbiter: Hashable, Sendable {
    /// An activity that may have to yield.
    enum Activity: CaseIterable, Sendable {
        case scanning
        /// Connectable advertising.
        case connectableAdvertising
        case otherAdvertising
        /// Initiating connections.
        case connecting
    }

    /// A condition that may prevent an activity.
    struct Obstacles: OptionSet, Hashable, Sendable {
        let rawValue: UInt8

        /// The controller is not up: it is being reset, or has not been started.
        static let reset = Obstacles(rawValue: 1 << 0)
        /// The host is trying to connect to a peer.
        static let attempt = Obstacles(rawValue: 1 << 1)
        /// The controller is scanning, or is about to start or stop.
        static let scan = Obstacles(rawValue: 1 << 2)
        /// A link exists.
        static let link = Obstacles(rawValue: 1 << 3)
        /// The link table is full.
        static let fullLinkTable = Obstacles(rawValue: 1 << 4)
        /// This host's address or the resolving list must be changed, which requires an idle radio.
        static let privacy = Obstacles(rawValue: 1 << 5)
    }

    /// Two activities that this controller turned out not to combine.
    struct Conflicts: OptionSet, Hashable, Sendable {
        let rawValue: UInt8

        static let scanAndAttempt = Conflicts(rawValue: 1 << 0)
        static let advertisingAndLinks = Conflicts(rawValue: 1 << 1)
    }

    /// The verdict on an activity, from least to most restrictive.
    enum Verdict: Int, Comparable, CaseIterable, Sendable {
        case proceed
        /// The activity continues if it is running, but must not start.
        case wait
        /// The activity must not start, and must stop if it is running.
        case stop
        /// The controller's reset has stopped the activity. No command may be sent.
        case suspended

        static func < (first: Verdict, second: Verdict) -> Bool { first.rawValue < second.rawValue }
    }

    struct Rule: Sendable {
        let activity: Activity
        let obstacle: Obstacles
        let verdict: Verdict
        /// The conflict that must have been found for the rule to apply; nil for a rule that always applies.
        let conflict: Conflicts?

        fileprivate init(
            _ activity: Activity, yieldsTo obstacle: Obstacles, by verdict: Verdict, once conflict: Conflicts? = nil
        ) {
            self.activity = activity
            self.obstacle = obstacle
            self.verdict = verdict
            self.conflict = conflict
        }
    }

    /// Which activity yields to which condition. The strictest rule that applies wins.
    static let rules: [Rule] = [
        Rule(.scanning, yieldsTo: .reset, by: .suspended),
        Rule(.connectableAdvertising, yieldsTo: .reset, by: .suspended),
        Rule(.otherAdvertising, yieldsTo: .reset, by: .suspended),
        Rule(.connecting, yieldsTo: .reset, by: .suspended),

        // Each of these activities prevents the controller from changing addresses. They resume afterwards.
        Rule(.scanning, yieldsTo: .privacy, by: .stop),
        Rule(.connectableAdvertising, yieldsTo: .privacy, by: .stop),
        Rule(.otherAdvertising, yieldsTo: .privacy, by: .stop),
        Rule(.connecting, yieldsTo: .privacy, by: .stop),

        // An attempt is short and the caller is waiting for it, while a scan can continue afterwards.
        Rule(.scanning, yieldsTo: .attempt, by: .stop, once: .scanAndAttempt),
        Rule(.connecting, yieldsTo: .scan, by: .wait, once: .scanAndAttempt),

        Rule(.connectableAdvertising, yieldsTo: .attempt, by: .wait, once: .advertisingAndLinks),
        Rule(.connectableAdvertising, yieldsTo: .link, by: .wait, once: .advertisingAndLinks),
        Rule(.otherAdvertising, yieldsTo: .attempt, by: .wait, once: .advertisingAndLinks),
        Rule(.otherAdvertising, yieldsTo: .link, by: .wait, once: .advertisingAndLinks),

        // The host would have to disconnect a peer that connects.
        Rule(.connectableAdvertising, yieldsTo: .fullLinkTable, by: .wait),
        Rule(.connecting, yieldsTo: .fullLinkTable, by: .stop),
    ]

    private(set) var conflicts: Conflicts = []

    init(conflicts: Conflicts = []) { self.conflicts = conflicts }

    /// The verdict on an activity now.
    func verdict(for activity: Activity, among obstacles: Obstacles) -> Verdict {
        var verdict = Verdict.proceed
        for rule in Self.rules where rule.activity == activity && obstacles.contains(rule.obstacle) {
            if let conflict = rule.conflict, !conflicts.contains(conflict) { continue }
            verdict = max(verdict, rule.verdict)
        }
        return verdict
    }

    /// Handles a refusal of an activity by the controller. If one of the obstacles may be the cause, the conflict is
    /// remembered.
    ///
    /// - Returns: false if nothing explains the refusal, so that waiting would not help.
    mutating func explainsRefusal(of activity: Activity, among obstacles: Obstacles) -> Bool {
        let found = Self.rules.first {
            $0.activity == activity && $0.conflict != nil && obstacles.contains($0.obstacle)
        }
        guard let conflict = found?.conflict else { return false }
        conflicts.insert(conflict)
        return true
    }

    /// Handles the end of all attempts to connect. Activities that yielded to them may be tried again.
    mutating func attemptsEnded() { conflicts = [] }

    /// Notes that a link has ended, or that the advertising request has changed. Advertising may be tried again.
    mutating func advertisingMayWork() { conflicts.remove(.advertisingAndLinks) }

    /// Handles a reset of the controller.
    mutating func reset() { conflicts = [] }
}
