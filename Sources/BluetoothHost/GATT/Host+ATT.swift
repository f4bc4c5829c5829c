import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHCI
import BluetoothL2CAP

/// The ATT bearer of each link: what comes in goes to the server, to the client, or straight to the caller.
extension Host {
    mutating func receiveATT(_ pdu: Span<UInt8>, _ slot: Int, at now: Instant) {
        guard pdu.count > 0 else { return }
        switch ATTOpcode(rawValue: pdu[0]) {
        case .handleValueNotification: receiveNotification(pdu, slot, at: now)
        case .handleValueIndication: receiveIndication(pdu, slot, at: now)
        case .multipleHandleValueNotification: receiveMultipleNotification(pdu, slot, at: now)
        case let opcode? where opcode.kind == .response:
            openFrame()
            links.at[slot].take(response: pdu, at: now, into: &outbox.writer)
            closeFrame(slot, .attributeProtocol)
            drainClient(slot)
        default:
            openFrame()
            let outcome = links.at[slot].serve(pdu, from: &server, at: now, into: &outbox.writer)
            closeFrame(slot, .attributeProtocol)
            served(outcome, pdu, slot)
            if case .dropped(let reason) = outcome {
                handle(reason == .malformed ? .attributePDUMalformed : .attributePDUIgnored, of: slot, at: now)
            }
            if case .confirmationReceived = outcome { indicateServiceChange(slot, at: now) }
        }
    }

    @inline(__always)
    private mutating func receiveNotification(_ pdu: Span<UInt8>, _ slot: Int, at now: Instant) {
        guard let notification = try? HandleValueNotification(decoding: parameters(of: pdu)),
            notification.handle.rawValue != 0
        else { return handle(.attributePDUMalformed, of: slot, at: now) }
        let value = events.store(notification.value)
        events.append(.client(links.at[slot].identifier, .notification(notification.handle, value)))
    }

    private mutating func receiveMultipleNotification(_ pdu: Span<UInt8>, _ slot: Int, at now: Instant) {
        guard let notification = try? MultipleHandleValueNotification(decoding: parameters(of: pdu)) else {
            return handle(.attributePDUMalformed, of: slot, at: now)
        }
        let link = links.at[slot].identifier
        var values = notification.makeIterator()
        while let value = values.next() {
            guard value.handle.rawValue != 0 else {
                handle(.attributePDUMalformed, of: slot, at: now)
                continue
            }
            events.append(.client(link, .notification(value.handle, events.store(value.value))))
        }
    }

    /// Every indication is confirmed, also one without a subscription: its sender may send no other before (Vol 3, Part F,
    /// 3.4.7.2).
    private mutating func receiveIndication(_ pdu: Span<UInt8>, _ slot: Int, at now: Instant) {
        guard let indication = try? HandleValueIndication(decoding: parameters(of: pdu)) else {
            return handle(.attributePDUMalformed, of: slot, at: now)
        }
        if indication.handle.rawValue == 0 {
            handle(.attributePDUMalformed, of: slot, at: now)
        } else {
            let value = events.store(indication.value)
            events.append(.client(links.at[slot].identifier, .indication(indication.handle, value)))
        }
        guard !links.at[slot].bearer.isDead else { return }
        openFrame()
        HandleValueConfirmation().encode(into: &outbox.writer)
        closeFrame(slot, .attributeProtocol)
    }

    @_lifetime(copy pdu)
    private func parameters(of pdu: Span<UInt8>) -> ByteReader {
        ByteReader(pdu.extracting(droppingFirst: 1))
    }
}
