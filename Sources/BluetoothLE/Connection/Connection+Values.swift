import BluetoothUsers
import Synchronization
import BluetoothAdapter
import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost

/// Reading, writing and subscribing (Core 5.4, Vol 3, Part G, 4.8 to 4.12).
///
/// Calls on one link are carried out in order, one at a time. On a link with enhanced ATT bearers, calls of several
/// tasks overlap, and only those that concern the same attribute keep their order. If one call must follow another,
/// await the first one.
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
        try await read(handle, known: link.knownChanges)
    }

    /// - Parameter known: see `characteristic(_:in:known:)`.
    func read(_ handle: AttributeHandle, known: UInt32) async throws(BluetoothError) -> [UInt8] {
        guard case .value(let value) = try await perform(.readLong(handle), known: known) else { return [] }
        return value
    }

    /// Discovers a characteristic, and reads its value, however long it is.
    ///
    ///     let level = try await connection.read("2A19")
    ///
    /// - Parameters:
    ///   - uuid: the characteristic's UUID. If several characteristics have it, the first one is read.
    ///   - service: the UUID of the characteristic's service. Defaults to any service.
    /// - Throws: `.notFound` with the UUID that is missing; `.servicesChanged` if the peer's services keep changing.
    public func read(_ uuid: BluetoothUUID, in service: BluetoothUUID? = nil) async throws(BluetoothError) -> [UInt8] {
        try await followingChanges { known throws(BluetoothError) in
            try await read(try await characteristic(uuid, in: service, known: known).valueHandle, known: known)
        }
    }

    /// Reads the values of all attributes of one type without discovery, in a single request if they fit (Core 5.4, Vol
    /// 3, Part G, 4.8.2). The peer truncates each value at ATT_MTU minus 4 octets, and at 253 octets.
    public func readValues(of uuid: BluetoothUUID) async throws(BluetoothError) -> [AttributeValue] {
        guard case .values(let values) = try await perform(.readByUUID(uuid)) else { return [] }
        return values
    }

    /// Writes a value and waits for the peer's response. A value longer than ATT_MTU minus 3 octets, up to 512 octets,
    /// is sent in parts.
    @inlinable
    public func write(
        _ value: some Collection<UInt8>, to characteristic: DiscoveredCharacteristic
    ) async throws(BluetoothError) {
        try await write(octets: Array(value), to: characteristic.valueHandle)
    }

    /// Writes the value of an attribute, such as a descriptor, and waits for the peer's response.
    @inlinable
    public func write(_ value: some Collection<UInt8>, to handle: AttributeHandle) async throws(BluetoothError) {
        try await write(octets: Array(value), to: handle)
    }

    /// Discovers a characteristic, writes its value, and waits for the peer's response.
    ///
    ///     try await connection.write([1], to: "2A39", in: "180D")
    ///
    /// - Parameters:
    ///   - uuid: the characteristic's UUID. If several characteristics have it, the first one is written.
    ///   - service: the UUID of the characteristic's service. Defaults to any service.
    /// - Throws: `.notFound` with the UUID that is missing; `.servicesChanged` if the peer's services keep changing.
    public func write(
        _ value: some Collection<UInt8>, to uuid: BluetoothUUID, in service: BluetoothUUID? = nil
    ) async throws(BluetoothError) {
        let octets = Array(value)
        try await followingChanges { known throws(BluetoothError) in
            let characteristic = try await characteristic(uuid, in: service, known: known)
            _ = try await router.call(
                .write(link.identifier, characteristic.valueHandle, octets), on: link, knownChanges: known)
        }
    }

    @usableFromInline
    func write(octets value: [UInt8], to handle: AttributeHandle) async throws(BluetoothError) {
        try await router.call(.write(link.identifier, handle, value), on: link, knownChanges: link.knownChanges)
    }

    /// Writes a value without a response. Suspends while the link's queue is full. The value is then sent, exactly
    /// once, unless the host learns before that its attribute has changed. Waiting calls are served in order.
    ///
    /// - Throws: `.valueTooLong` if the value is longer than ATT_MTU minus 3 octets, or `.servicesChanged` if the
    ///   peer's services change while the call waits.
    @inlinable
    public func writeWithoutResponse(
        _ value: some Collection<UInt8>, to characteristic: DiscoveredCharacteristic
    ) async throws(BluetoothError) {
        try await writeWithoutResponse(octets: Array(value), to: characteristic.valueHandle)
    }

    /// Writes the value of an attribute without a response. Suspends while the link's queue is full. The value is then
    /// sent, exactly once.
    ///
    /// - Throws: `.valueTooLong` if the value is longer than ATT_MTU minus 3 octets.
    @inlinable
    public func writeWithoutResponse(
        _ value: some Collection<UInt8>, to handle: AttributeHandle
    ) async throws(BluetoothError) {
        try await writeWithoutResponse(octets: Array(value), to: handle)
    }

    @usableFromInline
    func writeWithoutResponse(octets value: [UInt8], to handle: AttributeHandle) async throws(BluetoothError) {
        if let error = link.refusal(ofLength: value.count) { try refuse(error) }
        let known = link.knownChanges
        if try !takeAvailableCredit() { try await waitForCredit(for: handle) }
        let isPosted = router.post(
            .writeWithoutResponse(link.identifier, handle, value), keepsOrder: false, knownChanges: known)
        guard isPosted else { throw router.closure }
    }

    /// Writes a value without a response. If the link is not encrypted, the value is signed with the key of the bond
    /// (Core 5.4, Vol 3, Part G, 4.9.2). The peer ignores a value whose signature is wrong.
    ///
    /// - Throws: `.notBonded` if there is no key to sign with; `.valueTooLong` if the value is longer than ATT_MTU
    ///   minus 15 octets; `.tooManyPending` while the link's queue is full.
    public func writeSigned(
        _ value: some Collection<UInt8>, to characteristic: DiscoveredCharacteristic
    ) async throws(BluetoothError) {
        let value = Array(value)
        try await router.call(
            .writeSigned(link.identifier, characteristic.valueHandle, value), on: link,
            knownChanges: link.knownChanges)
    }

    /// Subscribes to a characteristic: to notifications if it supports them, otherwise to indications.
    ///
    /// The subscription begins when the request is sent to the peer. Values that arrive after that are delivered, even
    /// those before the response. The sequence throws `.disconnected` when the link ends, and `.servicesChanged` when a
    /// change of the peer's services removes the characteristic. If some of the link's data was lost, the sequence
    /// throws `.dataLost` at that point, and an iterator may continue after it. The subscription ends when the last
    /// copy of the sequence is released. Call `unsubscribe` to wait for the end.
    ///
    /// Up to 1 MiB of values per link is buffered for its consumers. Each value counts as at least 64 octets. Beyond
    /// that, the link ends with `.consumerTooSlow`, unless the controller can make the peer wait.
    ///
    /// - Throws: `.notSupported` if the characteristic supports neither.
    public func notifications(
        of characteristic: DiscoveredCharacteristic
    ) async throws(BluetoothError) -> EventSequence<[UInt8]> {
        try await notifications(of: characteristic, known: link.knownChanges)
    }

    /// - Parameter known: see `characteristic(_:in:known:)`.
    func notifications(
        of characteristic: DiscoveredCharacteristic, known: UInt32
    ) async throws(BluetoothError) -> EventSequence<[UInt8]> {
        try router.check(link)
        let configuration = characteristic.properties.preferredConfiguration
        guard !configuration.isEmpty else { throw .notSupported(.subscriptions) }
        guard let token = router.calls.insert(.beginning(nil)) else { throw router.closure }
        let taken: @Sendable ([UInt8]) -> Void = { [link, weak router] value in
            router?.consumed(value, on: link)
        }
        let queue = AsyncQueue(capacity: .max, overflow: .grow, onTake: taken)
        // From here on, releasing the sequence undoes everything.
        let sequence = EventSequence(queue) { [link, weak router] in
            if link.removeListener(token) { router?.post(.cancel, token: token) }
        }
        let request = SubscriptionRequest(
            characteristic: characteristic.valueHandle, end: characteristic.endHandle, configuration: configuration)
        do throws(BluetoothError) {
            try link.add(LinkState.Listener(handle: request.characteristic, token: token, queue: queue))
            try await router.wait(as: token) {
                router.post(
                    .subscribe(link.identifier, request), token: token, keepsOrder: false, knownChanges: known)
            }
        } catch {
            // The release of the sequence has nothing left to undo.
            _ = link.removeListener(token)
            throw link.explained(error)
        }
        return sequence
    }

    /// Discovers a characteristic, and subscribes to it. See `notifications(of:)`.
    ///
    /// - Parameters:
    ///   - uuid: the characteristic's UUID. If several characteristics have it, the first one is used.
    ///   - service: the UUID of the characteristic's service. Defaults to any service.
    /// - Throws: `.notFound` with the UUID that is missing; `.servicesChanged` if the peer's services keep changing.
    public func notifications(
        of uuid: BluetoothUUID, in service: BluetoothUUID? = nil
    ) async throws(BluetoothError) -> EventSequence<[UInt8]> {
        try await followingChanges { known throws(BluetoothError) in
            try await notifications(of: try await characteristic(uuid, in: service, known: known), known: known)
        }
    }

    /// Ends every subscription to a characteristic, and waits for the peer's response. The sequences end without an
    /// error. Subscriptions of other users of the controller continue.
    public func unsubscribe(from characteristic: DiscoveredCharacteristic) async throws(BluetoothError) {
        try router.check(link)
        let handle = characteristic.valueHandle
        let listeners = link.allListeners.filter { $0.handle == handle }
        guard let last = listeners.last else { return }
        // Values in flight still reach the listeners. A listener that is added later subscribes again.
        defer { for listener in listeners where link.removeListener(listener.token) { listener.queue.finish() } }
        for listener in listeners.dropLast() { router.post(.unsubscribe(link.identifier, listener.token)) }
        do throws(BluetoothError) {
            try await router.call(.unsubscribe(link.identifier, last.token), on: link)
        } catch {
            // A task that was already cancelled has not made the call, and nothing else ends the subscription.
            router.post(.cancel, token: last.token)
            throw error
        }
    }

    // MARK: - Credits

    /// Takes a credit to send an unacknowledged value. Returns false if there is none: then wait for one.
    func takeAvailableCredit() throws(BluetoothError) -> Bool {
        if Task.isCancelled { throw .cancelled }
        return link.credits.take()
    }

    /// Waits for a credit to send an unacknowledged value.
    ///
    /// - Parameter target: the peer's attribute that the value is for; nil for a value of this device.
    func waitForCredit(for target: AttributeHandle? = nil) async throws(BluetoothError) {
        try await router.waitForCredit(in: link.credits, for: target) { link.error }
    }

    /// Throws `error`, or the reason why the link or the adapter has ended.
    func refuse(_ error: BluetoothError) throws(BluetoothError) {
        try router.check(link)
        // The runner knows of the adapter's loss before its links are notified of it.
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
