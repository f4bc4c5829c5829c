/// Decides what each activity may do while others use the radio, by one table.
///
/// A controller cannot be asked which activities it combines: some refuse to scan while they initiate
/// a connection, or to advertise while they have links. A refusal is remembered, and the activity that yields in that
/// case waits until the other one is over.
struct RadioArbiter: Hashable, Sendable {
    /// What may have to yield.
    enum Activity: CaseIterable, Sendable {
        case scanning
        /// Advertising to which peers may connect.
        case connectableAdvertising
        case otherAdvertising
        /// Initiating connections.
        case connecting
    }

    /// What may be in the way.
    struct Obstacles: OptionSet, Hashable, Sendable {
        let rawValue: UInt8

        /// The controller is not up: it is being reset, or has not been started.
        static let reset = Obstacles(rawValue: 1 << 0)
        /// The host is trying to connect to a peer.
        static let attempt = Obstacles(rawValue: 1 << 1)
        /// The controller scans, or is about to begin or stop.
        static let scan = Obstacles(rawValue: 1 << 2)
        /// There is a link.
        static let link = Obstacles(rawValue: 1 << 3)
        /// There is no room for another link.
        static let fullLinkTable = Obstacles(rawValue: 1 << 4)
        /// The own address or the resolving list is to be changed, for which the radio has to be idle.
        static let privacy = Obstacles(rawValue: 1 << 5)
    }

    /// Two things that this controller turned out not to do at the same time.
    struct Conflicts: OptionSet, Hashable, Sendable {
        let rawValue: UInt8

        static let scanAndAttempt = Conflicts(rawValue: 1 << 0)
        static let advertisingAndLinks = Conflicts(rawValue: 1 << 1)
    }

    /// What an activity may do, from least to most restricted.
    enum Verdict: Int, Comparable, CaseIterable, Sendable {
        case proceed
        /// Goes on if it is running, but must not begin.
        case wait
        /// Must not begin, and must stop if it is running.
        case stop
        /// Has been stopped by the controller's reset. No command may be sent.
        case suspended

        static func < (first: Verdict, second: Verdict) -> Bool { first.rawValue < second.rawValue }
    }

    struct Rule: Sendable {
        let activity: Activity
        let obstacle: Obstacles
        let verdict: Verdict
        /// The conflict that must have been found for the rule to hold; nil for a rule that always holds.
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

    /// What yields to what. The strictest rule that applies wins.
    static let rules: [Rule] = [
        Rule(.scanning, yieldsTo: .reset, by: .suspended),
        Rule(.connectableAdvertising, yieldsTo: .reset, by: .suspended),
        Rule(.otherAdvertising, yieldsTo: .reset, by: .suspended),
        Rule(.connecting, yieldsTo: .reset, by: .suspended),

        // Each of these keeps the controller from changing addresses. They go on after that.
        Rule(.scanning, yieldsTo: .privacy, by: .stop),
        Rule(.connectableAdvertising, yieldsTo: .privacy, by: .stop),
        Rule(.otherAdvertising, yieldsTo: .privacy, by: .stop),
        Rule(.connecting, yieldsTo: .privacy, by: .stop),

        // An attempt is short and the caller waits for it; a scan can go on afterwards.
        Rule(.scanning, yieldsTo: .attempt, by: .stop, once: .scanAndAttempt),
        Rule(.connecting, yieldsTo: .scan, by: .wait, once: .scanAndAttempt),

        Rule(.connectableAdvertising, yieldsTo: .attempt, by: .wait, once: .advertisingAndLinks),
        Rule(.connectableAdvertising, yieldsTo: .link, by: .wait, once: .advertisingAndLinks),
        Rule(.otherAdvertising, yieldsTo: .attempt, by: .wait, once: .advertisingAndLinks),
        Rule(.otherAdvertising, yieldsTo: .link, by: .wait, once: .advertisingAndLinks),

        // A peer that connected could only be sent away.
        Rule(.connectableAdvertising, yieldsTo: .fullLinkTable, by: .wait),
        Rule(.connecting, yieldsTo: .fullLinkTable, by: .stop),
    ]

    private(set) var conflicts: Conflicts = []

    init(conflicts: Conflicts = []) { self.conflicts = conflicts }

    /// What an activity may do now.
    func verdict(for activity: Activity, among obstacles: Obstacles) -> Verdict {
        var verdict = Verdict.proceed
        for rule in Self.rules where rule.activity == activity && obstacles.contains(rule.obstacle) {
            if let conflict = rule.conflict, !conflicts.contains(conflict) { continue }
            verdict = max(verdict, rule.verdict)
        }
        return verdict
    }

    /// The controller has refused an activity. Where that may be due to one of the obstacles, the conflict is
    /// remembered.
    ///
    /// - Returns: false where nothing explains the refusal, so that waiting would not help.
    mutating func explainsRefusal(of activity: Activity, among obstacles: Obstacles) -> Bool {
        let found = Self.rules.first {
            $0.activity == activity && $0.conflict != nil && obstacles.contains($0.obstacle)
        }
        guard let conflict = found?.conflict else { return false }
        conflicts.insert(conflict)
        return true
    }

    /// The host no longer tries to connect: what yielded to that may be tried again.
    mutating func attemptsEnded() { conflicts = [] }

    /// A link has ended, or something else is to be advertised: advertising may be tried again.
    mutating func advertisingMayWork() { conflicts.remove(.advertisingAndLinks) }

    /// The controller was reset.
    mutating func reset() { conflicts = [] }
}
