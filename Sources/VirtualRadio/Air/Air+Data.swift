import BluetoothBase
import BluetoothHCI

extension Air {
    /// Receives an ACL data packet from a host, without the H4 indicator (Core 5.4, Vol 4, Part E, 5.4.2). Packets for
    /// an unknown link, or with an invalid length or flags, are ignored. So are packets of a host that does not read
    /// its events, because each packet is answered with one.
    mutating func receiveData(_ packet: Span<UInt8>, from index: Int, at now: Instant) {
        guard packet.count >= 4 else { return }
        let header = UInt16(packet[0]) | UInt16(packet[1]) << 8
        let length = Int(packet[2]) | Int(packet[3]) << 8
        // Bits 12 and 13 distinguish start and continuation, 14 and 15 are for broadcasts.
        guard length == packet.count &- 4, header >> 14 == 0, header >> 12 != 0b11,
            controllers[index].hasRoomForAnswers,
            let (link, role) = find(ConnectionHandle(rawValue: header), on: index)
        else { return }
        guard length > 0 else { return controllers[index].reportCompletedPacket(links[link][role].handle) }
        let isTaken = pools[index].append(
            packet.extracting(droppingFirst: 4), isContinuation: header >> 12 == 0b01, to: &links[link][role].queue)
        guard isTaken else { return controllers[index].reportDataBufferOverflow() }
        links[link].wake(role, at: now)
        reschedule(link)
    }

    /// Performs everything that is due on a link: data, then procedures, or the end of a link that has lost contact.
    mutating func runLink(_ link: Int, at time: Instant) {
        guard links[link].hasContact else { return closeForLoss(link, at: time) }
        if let nextExchange = links[link].nextExchange, nextExchange <= time { exchange(on: link, at: time) }
        while links[link].isInUse, let procedure = links[link].procedures.first, procedure.due <= time {
            links[link].procedures.removeFirst()
            run(procedure, on: link, at: time)
        }
        if links[link].isInUse { reschedule(link) }
    }

    /// One exchange in a connection event: a packet from the central, then one from the peripheral. As long as either
    /// has more, and there is time left in the event, another exchange follows immediately (Vol 6, Part B, 4.5.6).
    private mutating func exchange(on link: Int, at time: Instant) {
        links[link].nextExchange = nil
        guard links[link].carriesData else { return }
        let event = links[link].event(before: time)
        links[link].exchangesInEvent = links[link].currentEvent == event ? links[link].exchangesInEvent &+ 1 : 1
        links[link].currentEvent = event
        let fromCentral = transmit(from: .central, on: link)
        let fromPeripheral = transmit(from: .peripheral, on: link)
        guard links[link].central.hasDataToSend || links[link].peripheral.hasDataToSend else { return }

        let duration = links[link].central.airTime(fromCentral) &+ links[link].peripheral.airTime(fromPeripheral)
        let next = time.advanced(nanoseconds: duration)
        let end = event.advanced(nanoseconds: links[link].parameters.intervalNanoseconds)
        if fromCentral &+ fromPeripheral > 0, next.advanced(nanoseconds: duration) <= end,
            links[link].exchangesInEvent < links[link].maximumExchangesPerEvent
        {
            links[link].nextExchange = next
        } else {
            links[link].wake(.central, at: time)
            links[link].wake(.peripheral, at: time)
        }
    }

    /// Carries the next link layer packet from one end to the other end's host. Returns its length in octets, or 0 if
    /// there is nothing to send or the receiver has no room. A packet is at most as long as one buffer of the
    /// receiver's host.
    @inline(__always)
    private mutating func transmit(from role: LinkRole, on link: Int) -> Int {
        let sender = links[link][role].controller, receiver = links[link][role.other].controller
        let count = min(
            pools[sender].remaining(in: links[link][role].queue), Int(links[link][role].transmitOctets),
            controllers[receiver].settings.hostBuffers.length)
        guard count > 0, controllers[receiver].hasRoomForData else { return 0 }
        guard controllers[receiver].settings.hostBuffers.hasRoom else {
            hold(role, of: link)
            return 0
        }
        if !controllers[receiver].faults.isSilent {
            let boundary: UInt16 = pools[sender].isContinuation(in: links[link][role].queue) ? 0b01 : 0b10
            controllers[receiver].outbox.writer.append(HCIPacketType.aclData.rawValue)
            controllers[receiver].outbox.writer.append(links[link][role.other].handle.rawValue | boundary << 12)
            controllers[receiver].outbox.writer.append(UInt16(truncatingIfNeeded: count))
            pools[sender].copyFirst(count, of: links[link][role].queue, into: &controllers[receiver].outbox.writer)
            controllers[receiver].outbox.commit()
            controllers[receiver].settings.hostBuffers.take(for: &links[link][role.other])
        }
        if pools[sender].consume(count, of: &links[link][role].queue) {
            controllers[sender].reportCompletedPacket(links[link][role].handle)
        }
        return count
    }
}
