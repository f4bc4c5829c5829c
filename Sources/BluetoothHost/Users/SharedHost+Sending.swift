import BluetoothATT
import BluetoothBase
import BluetoothGATT

/// Values on their way to peers, and the credits they take.
extension SharedHost {
    /// Hands a value to the host. Its credit is returned when the value has gone to the controller, or if it could not
    /// be sent: another event reports why.
    mutating func send(for user: UserID, _ slot: Int, _ body: (inout Host) throws(HostError) -> Bool) {
        if let isSent = try? body(&host), isSent {
            links[slot].credits.take(for: user)
        } else {
            links[slot].credits.giveBack(1, to: user)
        }
    }

    /// Sends a value as a notification or an indication, as the peer has subscribed.
    mutating func update(_ user: UserID, _ slot: Int, _ handle: AttributeHandle, _ value: [UInt8], at now: Instant) {
        let link = links[slot].identifier
        let configuration = links[slot].peerSubscriptions[handle] ?? []
        guard !configuration.isEmpty else { return links[slot].credits.giveBack(1, to: user) }
        let length = (host.information(of: link)?.mtu ?? 23) - 3
        if configuration.contains(.notifications) {
            return send(for: user, slot) { host throws(HostError) in
                try host.notify(handle, value: value.span.extracting(first: length), on: link)
            }
        }
        let entry = IndicationQueue.Entry(
            call: UserCall(user: user, token: .none), handle: handle, value: Array(value.prefix(length)),
            tookCredit: true)
        indicate(entry, slot, at: now)
    }

    /// Queues an indication.
    mutating func indicate(_ entry: IndicationQueue.Entry, _ slot: Int, at now: Instant) {
        guard !links[slot].indications.isFull else { return finish(entry, slot, .failure(.busy)) }
        links[slot].indications.append(entry)
        sendIndication(slot, at: now)
    }

    /// Sends the oldest indication, unless one awaits its confirmation.
    private mutating func sendIndication(_ slot: Int, at now: Instant) {
        while !links[slot].indications.isFirstSent, let entry = links[slot].indications.first {
            do throws(HostError) {
                // The host's own indication may be in flight. Its confirmation leads back here.
                let isSent = try host.indicate(
                    entry.handle, value: entry.value.span, on: links[slot].identifier, at: now)
                guard isSent else { return }
                links[slot].indications.isFirstSent = true
            } catch {
                links[slot].indications.removeFirst()
                finish(entry, slot, .failure(error))
            }
        }
    }

    mutating func indicationConfirmed(on link: LinkIdentifier, at now: Instant) {
        guard let slot = slot(of: link) else { return }
        if links[slot].indications.isFirstSent, let entry = links[slot].indications.first {
            links[slot].indications.removeFirst()
            finish(entry, slot, .success(.done))
        }
        sendIndication(slot, at: now)
    }

    private mutating func finish(
        _ entry: IndicationQueue.Entry, _ slot: Int, _ result: Result<CallResult, HostError>
    ) {
        if entry.tookCredit { links[slot].credits.giveBack(1, to: entry.call.user) }
        end(entry.call, result)
    }

    /// At the end of a turn: returns the credits of values that have gone to the controller.
    @inline(__always)
    mutating func settleCredits(_ slot: Int) {
        if links[slot].credits.outstanding > 0 {
            links[slot].credits.settle(waiting: host.queuedFrameCount(of: links[slot].identifier))
        }
        guard !links[slot].credits.returned.isEmpty else { return }
        for (user, count) in links[slot].credits.returned { tell(.sendCredit(links[slot].identifier, count), to: user) }
        links[slot].credits.clearReturned()
    }
}
