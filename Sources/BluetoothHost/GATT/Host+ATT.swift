import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHCI
import BluetoothL2CAP

/// The ATT bearers of each link. Received PDUs go to the server, to the client, or directly to the caller.
extension Host {
    mutating func receiveATT(_ pdu: Span<UInt8>, _ slot: LinkSlot, at now: Instant) {
        if !receiveNotification(pdu, slot, on: .first, at: now) { receiveAttribute(pdu, slot, on: .first, at: now) }
    }

    /// Handles a notification from any bearer. It needs no answer, so no frame is opened. Returns false for any other
    /// PDU.
    @inline(__always)
    mutating func receiveNotification(
        _ pdu: Span<UInt8>, _ slot: LinkSlot, on bearer: AttributeChannel.ID, at now: Instant
    ) -> Bool {
        guard pdu.count > 0, pdu[0] == ATTOpcode.handleValueNotification.rawValue else { return false }
        if links.at[slot.index].protection.isUntrusted {
            handle(.valueUnprotected, of: slot, at: now)
        } else if links.at[slot.index].endpoint.takes(pdu.count, on: bearer) {
            notified(.notification(pdu), pdu, slot, at: now)
        } else {
            handle(.attributePDUTooLong, of: slot, at: now)
        }
        return true
    }

    /// Handles any other PDU from any bearer.
    @inline(__always)
    mutating func receiveAttribute(
        _ pdu: Span<UInt8>, _ slot: LinkSlot, on bearer: AttributeChannel.ID, at now: Instant
    ) {
        guard pdu.count > 0 else { return }
        if AttributeEndpoint.isForServer(pdu[0]) {
            openFrame(on: bearer)
            let outcome = links.at[slot.index].endpoint.serve(
                pdu, on: bearer, server: &server, at: now, into: &outbox.writer)
            closeFrame(slot, on: bearer)
            // Frequent outcomes come first: most requests are answered without a further effect, and most commands
            // write a value.
            if case .none = outcome { return }
            if case .valueWritten(let handle, let value) = outcome { return written(handle, pdu, value, slot) }
            return handle(outcome, pdu, slot, at: now)
        }
        openFrame(on: bearer)
        let outcome = links.at[slot.index].endpoint.receive(
            pdu, on: bearer, server: &server, at: now, into: &outbox.writer)
        closeFrame(slot, on: bearer)
        handle(outcome, pdu, slot, on: bearer, at: now)
    }

    /// Handles the beginning of an ATT PDU on the fixed channel that is longer than this host accepts. Returns false if
    /// it was not answered.
    mutating func refuse(tooLong start: Span<UInt8>, _ slot: LinkSlot, at now: Instant) -> Bool {
        guard start.count > 0 else { return false }
        openFrame()
        let outcome = links.at[slot.index].endpoint.refuse(
            tooLong: start[0], on: .first, server: server, into: &outbox.writer)
        closeFrame(slot, .attributeProtocol)
        endIfOverwhelmed(slot, at: now)
        if case .refused = outcome { return true }
        return false
    }

    /// Handles the server's outcome for a PDU. Its response, if any, has already been written.
    mutating func handle(_ outcome: GATTServerOutcome, _ pdu: Span<UInt8>, _ slot: LinkSlot, at now: Instant) {
        switch outcome {
        case .dropped(let reason):
            let fault: HostFault =
                switch reason {
                case .malformed: .attributePDUMalformed
                case .tooLong: .attributePDUTooLong
                default: .attributePDUIgnored
                }
            handle(fault, of: slot, at: now)
        case .signedWriteReceived(let handle, let value):
            receiveSignedWrite(pdu, to: handle, value, slot, at: now)
        case .confirmationReceived(let handle):
            if handle == ownServices.serviceChangedHandle { announceServiceChange(.confirmed, slot, at: now) }
            served(outcome, pdu, slot)
            indicateServiceChange(slot, at: now)
            indicateKeyMaterial(slot, at: now)
        default: served(outcome, pdu, slot)
        }
    }

    /// Handles the endpoint's outcome for a PDU. Its response, if any, has already been written.
    mutating func handle(
        _ outcome: AttributeOutcome, _ pdu: Span<UInt8>, _ slot: LinkSlot, on bearer: AttributeChannel.ID,
        at now: Instant
    ) {
        switch outcome {
        case .server(let outcome): served(outcome, pdu, slot)
        case .response:
            consequence = .waiting
            responseReceived(slot, at: now)
        case .notification, .indication, .ignored, .tooLong: notified(outcome, pdu, slot, at: now)
        case .notifications(let parameters): receiveNotifications(ByteReader(pdu.extracting(parameters)), slot, at: now)
        case .channelDied:
            guard links.at[slot.index].enhanced.bearers.contains(bearer.channel) else {
                return handle(.bearerExpired, of: slot, at: now)
            }
            // The link has other bearers (Vol 3, Part F, 3.3.3).
            handle(.enhancedBearerExpired, onBearer: bearer.channel, of: slot, at: now)
        }
    }

    /// Reports a value that the peer has notified or indicated.
    @inline(__always)
    private mutating func notified(
        _ outcome: AttributeOutcome, _ pdu: Span<UInt8>, _ slot: LinkSlot, at now: Instant
    ) {
        let link = links.at[slot.index].identifier
        if case .indication(let indicated, _) = outcome, links.at[slot.index].protection.isUntrusted,
            !isServiceChanged(indicated, slot)
        {
            return handle(.valueUnprotected, of: slot, at: now)
        }
        switch outcome {
        case .notification(let handle, let value):
            let payload = events.store(pdu.extracting(value))
            events.append(.client(link, .notification(handle, payload)))
        case .indication(let handle, let value):
            let payload = events.store(pdu.extracting(value))
            events.append(.client(link, .indication(handle, payload)))
        case .ignored: handle(.attributePDUMalformed, of: slot, at: now)
        case .tooLong: handle(.attributePDUTooLong, of: slot, at: now)
        case .server, .notifications, .response, .channelDied: return
        }
    }

    private mutating func receiveNotifications(
        _ parameters: consuming ByteReader, _ slot: LinkSlot, at now: Instant
    ) {
        guard !links.at[slot.index].protection.isUntrusted else { return handle(.valueUnprotected, of: slot, at: now) }
        guard let notification = try? MultipleHandleValueNotification(decoding: parameters) else {
            return handle(.attributePDUMalformed, of: slot, at: now)
        }
        let link = links.at[slot.index].identifier
        var values = notification.makeIterator()
        while let value = values.next() {
            guard value.handle.rawValue != 0 else {
                handle(.attributePDUMalformed, of: slot, at: now)
                continue
            }
            events.append(.client(link, .notification(value.handle, events.store(value.value))))
        }
    }
}
