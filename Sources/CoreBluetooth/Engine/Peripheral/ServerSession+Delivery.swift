import BluetoothATT
import BluetoothAdapter
import BluetoothGATT
import BluetoothHost
import Foundation

/// The callbacks of a peripheral manager, on its queue, and the answers to centrals.
extension ServerSession {
    func handle(_ event: consuming ServerEvent) {
        switch consume event {
        case .written(let central, let parts, let answer, let mtu):
            central.takeOut(parts.reduce(0) { $0 + $1.value.count })
            written(parts, by: central, answer, mtu)
        case .readRequested(let central, let request, let handle, let offset, let mtu):
            central.takeOut(0)
            let answer = PendingAnswer.read(request, central.attachment)
            guard let (manager, characteristic) = listener(for: handle) else {
                return respond(answer, Data(), .unlikelyError)
            }
            let request = CBATTRequest(
                manager.central(central, mtu: mtu), characteristic, offset: offset, value: nil, answer: answer)
            manager.delegate?.peripheralManager(manager, didReceiveRead: request)
        case .readyToUpdate(let central):
            guard let manager = manager.object, manager.attachment === central.attachment,
                manager.$isUpdateRefused.withLock({ isRefused in
                    defer { isRefused = false }
                    return isRefused
                })
            else { return }
            manager.delegate?.peripheralManagerIsReady(toUpdateSubscribers: manager)
        case .subscriptionChanged(let central, let change, let mtu): changed(change, of: central, mtu)
        case .mtuChanged(let central, let mtu): manager.object?.known(central)?.updateLength = CBCentral.length(mtu)
        case .added(let wanted, let handles, let error, let isAgain):
            guard let manager = manager.object else { return }
            let service = wanted.service
            if let handles {
                manager.added(
                    service, zip(handles.characteristics.map(\.value), wanted.characteristics).map { ($0, $1) })
            } else {
                manager.forget(service)
            }
            if !isAgain { return delegate { $0.peripheralManager($1, didAdd: service, error: told(error)) } }
            if let error { reportFailure("\(service) is no longer published: \(error)") }
        case .refused(let service, let error):
            manager.object?.forget(service)
            delegate { $0.peripheralManager($1, didAdd: service, error: told(error)) }
        case .advertising(nil, let error):
            guard let error else { return }
            reportFailure("advertising has ended: \(error)")
            manager.object?.endAdvertising()
        case .advertising(let generation?, let error):
            if error == nil { manager.object?.beganAdvertising(generation) }
            delegate { $0.peripheralManagerDidStartAdvertising($1, error: told(error)) }
        case .channelPublished(let psm, let error):
            delegate { $0.peripheralManager($1, didPublishL2CAPChannel: psm, error: told(error)) }
        case .channelUnpublished(let psm, let error):
            delegate { $0.peripheralManager($1, didUnpublishL2CAPChannel: psm, error: told(error)) }
        case .channelOpened(let central, let pipe, let mtu):
            guard let manager = manager.object, manager.delegate != nil else { return pipe.close() }
            let channel = CBL2CAPChannel(pipe, with: manager.central(central, mtu: mtu))
            delegate { $0.peripheralManager($1, didOpen: channel, error: nil) }
        case .restored(let dictionary): delegate { $0.peripheralManager($1, willRestoreState: dictionary) }
        case .state(let state, let attachment):
            if let manager = manager.object { stateChanged(to: state, attachment, manager) }
        }
    }

    private func delegate(_ body: (any CBPeripheralManagerDelegate, CBPeripheralManager) -> Void) {
        if let manager = manager.object, let delegate = manager.delegate { body(delegate, manager) }
    }

    /// The manager and the characteristic that answer for a value handle, if any.
    private func listener(for handle: AttributeHandle) -> (CBPeripheralManager, CBMutableCharacteristic)? {
        guard let manager = manager.object, manager.delegate != nil,
            let characteristic = manager.$published.withLock({ $0[handle] })
        else { return nil }
        return (manager, characteristic)
    }

    private func written(_ parts: [WrittenPart], by central: CentralLink, _ answer: PendingAnswer, _ mtu: Int) {
        guard let manager = manager.object, let delegate = manager.delegate else {
            return respond(answer, Data(), .unlikelyError)
        }
        // Some parts of a queue may be for the stack's own descriptors.
        let known = parts.compactMap { part in manager.$published.withLock { $0[part.handle] }.map { ($0, part) } }
        guard !known.isEmpty else { return respond(answer, Data(), .unlikelyError) }
        let requester = manager.central(central, mtu: mtu)
        let requests = known.enumerated().map { index, one in
            CBATTRequest(
                requester, one.0, offset: one.1.offset, value: one.1.value, answer: index == 0 ? answer : nil)
        }
        delegate.peripheralManager(manager, didReceiveWrite: requests)
    }

    private func changed(_ change: GATTSubscriptionChange, of central: CentralLink, _ mtu: Int) {
        if !change.new.isEmpty { central.takeOut(0) }
        // Also without a delegate: `updateValue` and `subscribedCentrals` use what is noted here.
        guard let manager = manager.object,
            let characteristic = manager.$published.withLock({ $0[change.characteristic] })
        else { return }
        central.noteSubscription(to: change.characteristic, isOver: change.new.isEmpty)
        let subscriber: CBCentral
        if change.new.isEmpty, let known = manager.known(central), known.link !== central {
            // A supervision timeout takes time, so the end of a link may follow the start of the next link with the
            // same central. The central's subscriptions over the new link continue.
            guard !known.link.isSubscribed(to: change.characteristic) else { return }
            subscriber = known
        } else {
            subscriber = manager.central(central, mtu: mtu)
        }
        let wasSubscribed = characteristic.$centrals.withLock { centrals in
            let wasSubscribed = centrals.contains { $0 === subscriber }
            if change.new.isEmpty { centrals.removeAll { $0 === subscriber } }
            if !change.new.isEmpty, !wasSubscribed { centrals.append(subscriber) }
            return wasSubscribed
        }
        switch (wasSubscribed, change.new.isEmpty) {
        case (false, false) where change.old.isEmpty:
            manager.delegate?.peripheralManager(manager, central: subscriber, didSubscribeTo: characteristic)
        case (true, false):
            // The central switched between notifications and indications. Or a bonded central, whose subscription from
            // an earlier connection was still in effect, has subscribed again. There is no callback for this, so the
            // old subscription is reported as ended and the new one as begun.
            characteristic.$centrals.withLock { centrals in centrals.removeAll { $0 === subscriber } }
            manager.delegate?.peripheralManager(manager, central: subscriber, didUnsubscribeFrom: characteristic)
            characteristic.$centrals.withLock { $0.append(subscriber) }
            manager.delegate?.peripheralManager(manager, central: subscriber, didSubscribeTo: characteristic)
        case (true, true):
            manager.delegate?.peripheralManager(manager, central: subscriber, didUnsubscribeFrom: characteristic)
        default: return
        }
    }

    func respond(_ answer: PendingAnswer, _ value: Data, _ result: CBATTError.Code) {
        let refusal = ATTErrorCode(rawValue: UInt8(truncatingIfNeeded: result.rawValue))
        // If this fails, the central has disconnected or its request has expired.
        switch answer {
        case .read(let request, let attachment):
            // No attribute value can be longer than this.
            let value = [UInt8](value.prefix(GATTAttributeValue.maximumLength))
            attachment.post(result == .success ? .answer(request, value) : .refuse(request, refusal))
        case .write(let request, let attachment):
            attachment.post(result == .success ? .accept(request) : .refuse(request, refusal))
        case .unneeded: return
        }
    }

    private func stateChanged(to state: CBManagerState, _ attachment: Attachment?, _ manager: CBPeripheralManager) {
        let before = manager.attachment
        manager.attachment = attachment
        if state != .poweredOn, !isRestoring {
            cycleEnded(before, keepsServices: !state.isBelowPoweredOff)
            manager.endAdvertising()
            manager.forgetCentrals()
            // No callback is due for the links of an ended power cycle.
            manager.isUpdateRefused = false
            if state.isBelowPoweredOff { manager.forgetServices() }
        }
        if let attachment {
            publishAgain(through: attachment)
            if isRestoring, let wanted = lock.withLock({ wantedAdvertisement }) {
                manager.resumeAdvertising()
                perform(.advertise(wanted, attachment, generation: nil))
            }
            isRestoring = false
        }
        manager.currentState = state
        manager.delegate?.peripheralManagerDidUpdateState(manager)
    }
}
