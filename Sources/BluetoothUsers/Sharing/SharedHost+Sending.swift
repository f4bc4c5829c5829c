import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost

/// Sends values to peers, and manages the credits they take.
extension SharedHost {
    /// Passes a value to the host. Its credit is returned when the value has gone to the controller, or if it could not
    /// be sent.
    mutating func send(for user: UserID, _ slot: LinkSlot, _ body: (inout Host) throws(HostError) -> Bool) {
        work.add(.sending)
        if let isSent = try? body(&host), isSent {
            links[slot.index].credits.take(for: user)
        } else {
            links[slot.index].credits.giveBack(1, to: user)
        }
    }

    /// Returns the credit of a value that is not sent.
    mutating func returnCredit(to user: UserID, _ slot: LinkSlot) {
        work.add(.sending)
        links[slot.index].credits.giveBack(1, to: user)
    }

    /// Sends a value as a notification or an indication, depending on the peer's subscription.
    mutating func update(
        _ user: UserID, _ slot: LinkSlot, _ handle: AttributeHandle, _ value: [UInt8], at now: Instant
    ) {
        let link = links[slot.index].identifier
        let configuration = links[slot.index].peerSubscriptions[handle]
        guard !configuration.isEmpty else { return returnCredit(to: user, slot) }
        let length = host.mtu(of: link) - 3
        if configuration.contains(.notifications) {
            return send(for: user, slot) { host throws(HostError) in
                try host.notify(handle, value: value.span.extracting(first: length), on: link)
            }
        }
        work = .any
        let entry = IndicationQueue.Entry(
            call: UserCall(user: user, token: .none), handle: handle, value: Array(value.prefix(length)),
            tookCredit: true)
        indicate(entry, slot, at: now)
    }

    /// Queues an indication.
    mutating func indicate(_ entry: IndicationQueue.Entry, _ slot: LinkSlot, at now: Instant) {
        guard !links[slot.index].indications.isFull else { return finish(entry, slot, .failure(.busy)) }
        links[slot.index].indications.append(entry)
        sendIndication(slot, at: now)
    }

    /// Sends the oldest indication, unless another one is waiting for its confirmation.
    private mutating func sendIndication(_ slot: LinkSlot, at now: Instant) {
        while !links[slot.index].indications.isFirstSent, let entry = links[slot.index].indications.first {
            do throws(HostError) {
                // An indication of the host itself may be in flight. Its confirmation triggers the next attempt.
                let isSent = try host.indicate(
                    entry.handle, value: entry.value.span, on: links[slot.index].identifier, at: now)
                guard isSent else { return }
                links[slot.index].indications.firstSent()
            } catch {
                links[slot.index].indications.removeFirst()
                finish(entry, slot, .failure(error))
            }
        }
    }

    mutating func indicationConfirmed(on link: LinkIdentifier, at now: Instant) {
        guard let slot = slot(of: link) else { return }
        if links[slot.index].indications.isFirstSent, let entry = links[slot.index].indications.first {
            links[slot.index].indications.removeFirst()
            finish(entry, slot, .success(.done))
        }
        sendIndication(slot, at: now)
    }

    private mutating func finish(
        _ entry: IndicationQueue.Entry, _ slot: LinkSlot, _ result: Result<CallResult, HostError>
    ) {
        if entry.tookCredit { links[slot.index].credits.giveBack(1, to: entry.call.user) }
        end(entry.call, result)
    }

    /// Returns the credits of values that have gone to the controller. Called at the end of a turn.
    @inline(__always)
    mutating func settleCredits(_ slot: LinkSlot) {
        if links[slot.index].credits.outstanding > 0 {
            links[slot.index].credits.settle(waiting: host.queuedFrameCount(of: links[slot.index].identifier))
            if links[slot.index].scheduler.waitingCount > 0 { turnsDue.append(links[slot.index].identifier) }
        }
        tellReturnedCredits(slot)
    }

    @inline(__always)
    mutating func tellReturnedCredits(_ slot: LinkSlot) {
        guard !links[slot.index].credits.returned.isEmpty else { return }
        guard links[slot.index].scheduler.waitingCount == 0 else { return returnSomeCredits(slot) }
        for returned in links[slot.index].credits.returned {
            tell(.sendCredit(links[slot.index].identifier, returned.count), to: returned.user)
        }
        links[slot.index].credits.clearReturned()
    }

    /// Returns credits while calls are waiting. If a user owes credits for waiting values, it receives no more than it
    /// owes, because it may not post further values before those are sent.
    @inline(never)
    private mutating func returnSomeCredits(_ slot: LinkSlot) {
        for returned in links[slot.index].credits.returned {
            let values = links[slot.index].scheduler.values(of: returned.user)
            let owed = values.count + links[slot.index].credits.taken(by: returned.user) - Self.sendCredit
            let told = values.isAnyOwing ? min(returned.count, max(0, owed)) : returned.count
            guard told > 0 else { continue }
            tell(.sendCredit(links[slot.index].identifier, told), to: returned.user)
            links[slot.index].credits.tell(told, to: returned.user)
        }
    }
}
