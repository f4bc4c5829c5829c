import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost

/// Calls that keep the order of their user. Each starts when the one before it has ended.
extension SharedHost {
    /// Delays a call if earlier calls of its user have not ended, or if its value has no credit. If too many calls are
    /// waiting, the call fails; a value is dropped. Returns false if the call can be carried out now.
    @inline(__always)
    mutating func waitsForTurn(_ call: borrowing HostCall, _ slot: LinkSlot) -> Bool {
        guard mustWait(call.user, keepsOrder: call.keepsOrder, takesCredit: call.kind.takesCredit, slot) else {
            return false
        }
        wait(copy call, slot)
        return true
    }

    /// Whether a call must wait for its turn.
    @inline(__always)
    func mustWait(_ user: UserID, keepsOrder: Bool, takesCredit: Bool, _ slot: LinkSlot) -> Bool {
        keepsOrder && links[slot.index].scheduler.mustWait(user)
            || takesCredit && links[slot.index].credits.isExhausted(user)
    }

    @inline(never)
    mutating func wait(_ call: HostCall, _ slot: LinkSlot) {
        let takesCredit = call.kind.takesCredit
        let values = takesCredit ? links[slot.index].scheduler.values(of: call.user).count : 0
        let isOwing = takesCredit && values + links[slot.index].credits.taken(by: call.user) >= Self.sendCredit
        if links[slot.index].scheduler.hold(call, for: isOwing ? .credit : .turn) { return }
        if takesCredit { return returnCredit(to: call.user, slot) }
        end(UserCall(call), .failure(.client(.tooManyOperations)))
    }

    /// Drops the calls of a user on a link that have not started.
    mutating func abandonCalls(of user: UserID, _ slot: LinkSlot) {
        for call in links[slot.index].scheduler.takeCalls(of: user) {
            if call.kind.takesCredit {
                links[slot.index].credits.giveBack(1, to: user)
            } else {
                end(UserCall(call), .failure(.cancelled))
            }
        }
    }

    /// Starts a call whose turn has come.
    mutating func begin(_ call: HostCall, _ slot: LinkSlot, at now: Instant) {
        if case .writeWithoutResponse(let link, let handle, let value) = call.kind {
            if isOutdated(call) { return returnCredit(to: call.user, slot) }
            return send(for: call.user, slot) { host throws(HostError) in
                try host.writeWithoutResponse(value.span, to: handle, on: link)
            }
        }
        var userCall = UserCall(call)
        userCall.turn = links[slot.index].identifier
        links[slot.index].scheduler.begin(userCall)
        if isOutdated(call) { return end(userCall, .failure(.servicesChanged)) }
        carryOut(call.kind, userCall, slot, at: now)
    }

    /// Starts the calls whose turn has come since this was last called.
    mutating func beginDueCalls(at now: Instant) {
        work = .any
        while let link = turnsDue.popLast() {
            guard let slot = slot(of: link) else { continue }
            while links[slot.index].isInUse, let call = nextCall(slot) { begin(call, slot, at: now) }
            if !host.events.isEmpty { drain(at: now) }
        }
    }

    private mutating func nextCall(_ slot: LinkSlot) -> HostCall? {
        let credits = links[slot.index].credits
        return links[slot.index].scheduler.nextCall { credits.isExhausted($0) }
    }

    /// Handles the end of a call that kept its order.
    mutating func turnEnded(_ call: UserCall, on link: LinkIdentifier) {
        guard let slot = slot(of: link), links[slot.index].scheduler.ended(call), !turnsDue.contains(link) else {
            return
        }
        turnsDue.append(link)
    }
}

extension HostCall.Kind {
    /// Whether it takes a credit of its link, and ends without an event.
    @inline(__always)
    var takesCredit: Bool { if case .writeWithoutResponse = self { true } else { false } }

    /// The link on which the call can keep its user's order; nil for other calls.
    var linkOfTurn: LinkIdentifier? {
        switch self {
        case .perform(let link, _), .write(let link, _, _), .subscribe(let link, _), .unsubscribeAll(let link, _),
            .awaitTurn(let link), .channel(let link, .open):
            link
        default: nil
        }
    }
}
