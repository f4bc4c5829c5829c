import BluetoothUsers
import Synchronization
import BluetoothAdapter
import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost

/// Reading, writing and subscribing (Core 5.4, Vol 3, Part G, 4.8 to 4.12). Calls on one link are carried out one at a
/// time, in order.
extension Connection {
    /// Reads a value, however long it is.
    public func read(_ characteristic: DiscoveredCharacteristic) async throws(BluetoothError) -> [UInt8] {
        try await read(characteristic.valueHandle)
    }

    /// Reads a descriptor, however long it is.
    public func read(_ descriptor: DiscoveredDescriptor) async throws(BluetoothError) -> [UInt8] {
        try await read(descriptor.handle)
    }

    /// Reads the value of an attribute, however long it is.
    public func read(_ handle: AttributeHandle) async throws(BluetoothError) -> [UInt8] {
        guard case .value(let value) = try await perform(.readLong(handle)) else { return [] }
        return value
    }

    /// Reads every value of one type: of a characteristic with a known UUID, without discovery. Each may be cut off at
    /// ATT_MTU less 4, and at 253, octets.
    public func read(_ uuid: BluetoothUUID) async throws(BluetoothError) -> [AttributeValue] {
        guard case .values(let values) = try await perform(.readByUUID(uuid)) else { return [] }
        return values
    }

    /// Writes a value and waits for the peer's answer. A value longer than ATT_MTU less 3 octets, up to 512 octets, is
    /// sent in parts.
    public func write(
        _ value: [UInt8], to characteristic: DiscoveredCharacteristic
    ) async throws(BluetoothError) {
        try await write(value, to: characteristic.valueHandle)
    }

    /// Writes the value of an attribute, such as a descriptor, and waits for the peer's answer.
    public func write(_ value: [UInt8], to handle: AttributeHandle) async throws(BluetoothError) {
        try router.check(link)
        try await router.call(.write(link.identifier, handle, value))
    }

    /// Writes a value without response. Waits while too much is in flight; then it is sent, once. Waiting calls are
    /// served in order.
    ///
    /// - Throws: `.valueTooLong` above ATT_MTU less 3 octets, `.servicesChanged` if the peer's services change while it waits.
    public func writeWithoutResponse(
        _ value: [UInt8], to characteristic: DiscoveredCharacteristic
    ) async throws(BluetoothError) {
        try await writeWithoutResponse(value, to: characteristic.valueHandle)
    }

    /// Writes the value of an attribute without response. Waits while too much is in flight; then it is sent, once.
    ///
    /// - Throws: `.valueTooLong` above ATT_MTU less 3 octets.
    public func writeWithoutResponse(_ value: [UInt8], to handle: AttributeHandle) async throws(BluetoothError) {
        if let error = link.refusal(ofLength: value.count) { try refuse(error) }
        try await takeCredit(for: handle)
        let isPosted = router.post(.writeWithoutResponse(link.identifier, handle, value), keepsOrder: false)
        guard isPosted else { throw router.closure }
    }

    /// Writes a value without response, signed with the key of the bond where the link is not encrypted (Core 5.4, Vol 3,
    /// Part G, 4.9.2). The peer ignores it if the signature is not right.
    ///
    /// - Throws: `.notBonded` if there is no key to sign with, `.valueTooLong` above ATT_MTU less 15 octets,
    ///   `.tooManyPending` while too much is in flight.
    public func writeSigned(
        _ value: [UInt8], to characteristic: DiscoveredCharacteristic
    ) async throws(BluetoothError) {
        try router.check(link)
        try await router.call(.writeSigned(link.identifier, characteristic.valueHandle, value))
    }

    /// Subscribes to a characteristic: to notifications if it has them, otherwise to indications.
    ///
    /// The subscription begins when the request is sent to the peer: values that come before the response are delivered,
    /// those that came before the request are not. The sequence ends by throwing
    /// `.disconnected` when the link ends, and `.servicesChanged` when a change of the peer's services removes the
    /// characteristic. If a part of the link's stream was lost, it throws `.dataLost` at that point; an iterator may
    /// continue after it. When the last copy of the sequence is gone, the subscription ends; `unsubscribe` waits for
    /// that.
    ///
    /// Up to a mebibyte of values waits for the consumers of a link, each counted as at least 64 octets. Beyond that
    /// the link ends with `.consumerTooSlow`, unless the controller can make the peer wait.
    ///
    /// - Throws: `.notSupported` if the characteristic has neither.
    public func notifications(
        of characteristic: DiscoveredCharacteristic
    ) async throws(BluetoothError) -> EventSequence<[UInt8]> {
        try router.check(link)
        let configuration = characteristic.properties.preferredConfiguration
        guard !configuration.isEmpty else { throw .notSupported("the characteristic neither notifies nor indicates") }
        guard let token = router.calls.insert(.beginning(nil)) else { throw router.closure }
        let taken: @Sendable ([UInt8]) -> Void = { [link, weak router] value in
            if link.window.remove(value.count) { router?.post(.resumeReceiving(link.identifier)) }
        }
        let queue = AsyncQueue(capacity: .max, overflow: .grow, onTake: taken)
        // From here on the sequence undoes everything.
        let sequence = EventSequence(queue) { [link, weak router] in
            if link.removeListener(token) { router?.post(.cancel, token: token) }
        }
        let request = SubscriptionRequest(
            characteristic: characteristic.valueHandle, end: characteristic.endHandle, configuration: configuration)
        do throws(BluetoothError) {
            try link.add(Link.Listener(handle: request.characteristic, token: token, queue: queue))
            try await router.wait(as: token) {
                router.post(.subscribe(link.identifier, request), token: token, keepsOrder: false)
            }
        } catch {
            // There is nothing left to undo.
            _ = link.removeListener(token)
            throw error
        }
        return sequence
    }

    /// Ends every subscription to a characteristic, and waits until the peer knows. The sequences end without an error.
    /// Subscriptions of other users of the controller continue.
    public func unsubscribe(from characteristic: DiscoveredCharacteristic) async throws(BluetoothError) {
        try router.check(link)
        let handle = characteristic.valueHandle
        let listeners = link.allListeners.filter { $0.handle == handle }
        guard let last = listeners.last else { return }
        // Values in flight still reach them; a new listener subscribes again.
        defer { for listener in listeners where link.removeListener(listener.token) { listener.queue.finish() } }
        for listener in listeners.dropLast() { router.post(.unsubscribe(link.identifier, listener.token)) }
        do throws(BluetoothError) {
            try await router.call(.unsubscribe(link.identifier, last.token))
        } catch {
            // A task that was cancelled before asks for nothing any more, but nobody else ends the subscription.
            router.post(.cancel, token: last.token)
            throw error
        }
    }

    // MARK: - Credits

    /// Takes a credit to send an unacknowledged value, or waits for one.
    ///
    /// - Parameter target: the attribute of the peer that it is for; nil for a value of this device.
    func takeCredit(for target: AttributeHandle? = nil) async throws(BluetoothError) {
        if Task.isCancelled { throw .cancelled }
        if link.credits.take() { return }
        try await router.waitForCredit(in: link.credits, for: target) { link.error }
    }

    /// Throws if a value cannot be sent, or if its link has ended.
    func refuse(_ error: BluetoothError) throws(BluetoothError) {
        try router.check(link)
        // The adapter's loss is known before each thing that ends with it has been told.
        if router.runner.failure != nil { throw router.runner.error(for: HostError.adapterRemoved) }
        throw error
    }
}

extension GATTCharacteristicProperties {
    fileprivate var preferredConfiguration: GATTClientConfiguration {
        if contains(.notify) { return .notifications }
        return contains(.indicate) ? .indications : []
    }
}
