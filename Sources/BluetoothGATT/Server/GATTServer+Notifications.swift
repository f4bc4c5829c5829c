import BluetoothATT
import BluetoothBase

// Notifications and indications (Core 5.4, Vol 3, Part F, 3.4.7; Part G, 4.10 and 4.11).
//
// The peer is `inout` only so that it is read in place: borrowing it would copy it for each notification.

extension GATTServer {
    /// Writes a notification of a value.
    ///
    /// - Parameters:
    ///   - handle: The handle of the characteristic's value.
    ///   - subscription: The index of the client's subscription to it; nil if the client has not subscribed.
    /// - Throws: `notSubscribed`, `changeUnaware`, `insufficientSecurity`, `valueTooLong` if the value is longer than
    ///   ATT_MTU - 3 octets, or `bearerClosed`. Nothing is written then.
    @inline(__always)
    func notify(
        _ handle: AttributeHandle, value: Span<UInt8>, _ subscription: Int?, client: inout GATTServedClient,
        bearer: borrowing ATTBearer, headroom: Int = 0, into writer: inout ByteWriter
    ) throws(GATTServerError) {
        guard !bearer.isDead else { throw .bearerClosed }
        try check(handle, subscription, .notifications, &client)
        guard value.count <= bearer.mtu &- 3 else { throw .valueTooLong(maximum: bearer.mtu &- 3) }
        HandleValueNotification(handle: handle, value: value).encode(into: &writer, headroom: headroom)
    }

    /// Writes one notification of several values, for a client that supports it (3.4.7.4).
    ///
    /// - Throws: The errors of `notify`, and `multipleNotificationsNotSupported`. The maximum in `valueTooLong` is the
    ///   number of octets available for all values plus four octets for each of them.
    func notify(
        _ values: [AttributeValue], client: inout GATTServedClient, bearer: borrowing ATTBearer,
        into writer: inout ByteWriter
    ) throws(GATTServerError) {
        guard !bearer.isDead else { throw .bearerClosed }
        guard values.count >= 2, client.clientSupportedFeatures.contains(.multipleHandleValueNotifications) else {
            throw .multipleNotificationsNotSupported
        }
        var length = 0
        for value in values {
            try check(value.handle, client.index(of: value.handle), .notifications, &client)
            length += 4 + value.value.count
        }
        guard length <= bearer.mtu &- 1 else { throw .valueTooLong(maximum: bearer.mtu &- 1) }
        MultipleHandleValueNotification.begin(into: &writer)
        for value in values {
            MultipleHandleValueNotification.append(handle: value.handle, value: value.value.span, into: &writer)
        }
    }

    /// Writes an indication of a value. The outcome `confirmationReceived` follows.
    ///
    /// - Parameter handle: The handle of the characteristic's value.
    /// - Throws: The errors of `notify`, and `indicationPending`.
    func indicate(
        _ handle: AttributeHandle, value: Span<UInt8>, client: inout GATTServedClient, channel: inout AttributeChannel,
        at now: Instant, into writer: inout ByteWriter
    ) throws(GATTServerError) {
        guard !channel.bearer.isDead else { throw .bearerClosed }
        try check(handle, client.index(of: handle), .indications, &client)
        let maximum = channel.bearer.mtu &- 3
        guard value.count <= maximum else { throw .valueTooLong(maximum: maximum) }
        try beginIndication(&channel.bearer, at: now)
        channel.transaction.indicated = handle
        HandleValueIndication(handle: handle, value: value).encode(into: &writer)
    }

    /// Checks that the client has subscribed and knows the database, and that the link has the security required to
    /// subscribe. A subscription outlives its connection, and the next connection may not be encrypted yet (Part C,
    /// 10.3.1.1).
    @inline(__always)
    private func check(
        _ handle: AttributeHandle, _ subscription: Int?, _ configuration: GATTClientConfiguration,
        _ client: inout GATTServedClient
    ) throws(GATTServerError) {
        guard let subscription,
            client.subscriptions[subscription].configuration.contains(configuration),
            let index = database.index(of: client.subscriptions[subscription].descriptor)
        else { return try checkUnconditional(handle, configuration, &client) }
        if client.changeAwareness != .aware, !isServiceChanged(handle) { throw .changeUnaware }
        if let code = refusal(of: .write, at: index, client) {
            throw .insufficientSecurity(code)
        }
    }

    private func isServiceChanged(_ handle: AttributeHandle) -> Bool { database.type(of: handle) == .serviceChanged }

    /// Checks whether a value may be sent to a client that cannot subscribe to it, because there is no descriptor for
    /// that.
    private func checkUnconditional(
        _ handle: AttributeHandle, _ configuration: GATTClientConfiguration, _ client: inout GATTServedClient
    ) throws(GATTServerError) {
        guard let sent = database.unconditional[handle], sent.configuration.contains(configuration) else {
            throw .notSubscribed(handle)
        }
        if client.changeAwareness != .aware { throw .changeUnaware }
        if let code = sent.permissions.refusal(of: .write, on: client.security) { throw .insufficientSecurity(code) }
    }
}
