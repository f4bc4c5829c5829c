/// The send credits of one link: for each user, the number of values in flight.
struct SendCredits: Hashable, Sendable {
    private struct Run: Hashable, Sendable {
        let user: UserID
        var count: Int
    }

    /// The users whose values are in flight, in the order in which the host received them.
    private var runs: [Run] = []
    private var head = 0
    private(set) var outstanding = 0
    /// The credits to return to their users at the end of the turn.
    private(set) var returned: [Returned] = []

    /// Credits to return to a user.
    struct Returned: Hashable, Sendable {
        let user: UserID
        var count: Int
    }

    /// Records that a user's value was passed to the host.
    mutating func take(for user: UserID) {
        outstanding += 1
        if head < runs.count, runs[runs.count - 1].user == user {
            runs[runs.count - 1].count += 1
        } else {
            runs.append(Run(user: user, count: 1))
        }
    }

    /// Returns the credits of sent values. At most `waiting` of the outstanding values are still queued in the host.
    mutating func settle(waiting: Int) {
        var sent = outstanding - waiting
        guard sent > 0 else { return }
        outstanding -= sent
        while sent > 0, head < runs.count {
            let count = min(sent, runs[head].count)
            giveBack(count, to: runs[head].user)
            runs[head].count -= count
            sent -= count
            if runs[head].count == 0 { head += 1 }
        }
        if head == runs.count {
            runs.removeAll(keepingCapacity: true)
            head = 0
        } else if head > 64 {
            runs.removeFirst(head)
            head = 0
        }
    }

    /// Returns credits that were not used, or whose indication was confirmed.
    mutating func giveBack(_ count: Int, to user: UserID) {
        if let index = returned.firstIndex(where: { $0.user == user }) {
            returned[index].count += count
        } else {
            returned.append(Returned(user: user, count: count))
        }
    }

    /// Whether the user's values in flight use up all of its credit.
    @inline(__always)
    func isExhausted(_ user: UserID) -> Bool {
        outstanding >= SharedHost.sendCredit && inFlight(user) >= SharedHost.sendCredit
    }

    private func inFlight(_ user: UserID) -> Int {
        var count = 0
        for run in runs[head...] where run.user == user { count += run.count }
        return count
    }

    /// The user's credits in use, from its point of view: those in flight, and those returned but not yet reported to
    /// it.
    func taken(by user: UserID) -> Int { inFlight(user) + (returned.first { $0.user == user }?.count ?? 0) }

    /// Records that a user was notified of some of its returned credits.
    mutating func tell(_ count: Int, to user: UserID) {
        guard let index = returned.firstIndex(where: { $0.user == user }) else { return }
        returned[index].count -= count
        if returned[index].count == 0 { returned.remove(at: index) }
    }

    mutating func clearReturned() { returned.removeAll(keepingCapacity: true) }

    /// Removes a user that has detached. Its values in flight no longer belong to any user.
    mutating func forget(_ user: UserID) { returned.removeAll { $0.user == user } }
}
