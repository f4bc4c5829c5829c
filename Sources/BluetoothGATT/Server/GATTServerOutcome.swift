import BluetoothATT

/// The effect of a PDU from a client, besides the response that the server wrote.
///
/// Ranges count from the first octet of the PDU, the opcode, so nothing needs to be copied.
public enum GATTServerOutcome: Equatable, Sendable {
    /// Nothing to report.
    case none
    /// A value was written. The database keeps it unless it is dynamic. The application need not answer.
    case valueWritten(handle: AttributeHandle, value: Range<Int>)
    /// A signed value arrived. The server has not verified the signature: if it is valid, call
    /// `AttributeEndpoint.commitSigned`.
    case signedWriteReceived(handle: AttributeHandle, value: Range<Int>)
    /// The application must provide the value from `offset` on: `AttributeEndpoint.answer` or `refuse`.
    case readRequested(GATTRequestToken, handle: AttributeHandle, offset: Int)
    /// The application must accept or refuse a value: `AttributeEndpoint.accept` or `refuse`.
    case writeRequested(GATTRequestToken, handle: AttributeHandle, value: Range<Int>)
    /// The application must accept or refuse a list of queued writes as a whole: `AttributeEndpoint.accept` or
    /// `refuse`. `AttributeEndpoint.preparedWrites(for:)` returns the list. Values that the database keeps change only
    /// when the application accepts.
    case executeRequested(GATTRequestToken)
    /// The application must decide whether the client may access an attribute: `AttributeEndpoint.authorize` or
    /// `refuse`. The client's PDU waits, which does not block other channels.
    case authorizationRequested(GATTRequestToken, handle: AttributeHandle, access: GATTAccess)
    /// Queued writes were executed. The list contains the changes.
    case preparedWritesExecuted([GATTValueChange])
    /// A client changed its subscription to a characteristic.
    case subscriptionChanged(GATTSubscriptionChange)
    /// A client has written its supported features. Store them with its bond.
    case clientSupportedFeaturesChanged(GATTClientSupportedFeatures)
    /// The client has exchanged the MTU. This is the ATT_MTU from now on.
    case mtuExchanged(Int)
    /// The client has confirmed the indication of this value. The next indication may be sent.
    case confirmationReceived(AttributeHandle)
    /// The application did not answer in time, so the server refused the request: with Unlikely Error, or with
    /// Insufficient Authorization if the request waited for authorization. The token is no longer valid.
    case requestExpired(GATTRequestToken)
    /// The request was refused with this error.
    case refused(ATTError)
    /// The PDU was dropped.
    case dropped(GATTDropReason)
}

/// Why a server dropped a PDU without a response.
public enum GATTDropReason: Equatable, Sendable {
    /// A malformed command or confirmation, or an empty PDU.
    case malformed
    /// A command or a confirmation longer than the ATT_MTU.
    case tooLong
    /// An unassigned opcode whose Command Flag says that it is not answered (Core 5.4, Vol 3, Part F, 3.3.1).
    case unknownCommand
    /// A response, a notification or an indication. Clients do not send them.
    case notForServer
    /// A request while the one before it is still being served, which a client must not send (Vol 3, Part F, 3.3.2).
    case requestPending
    /// A confirmation without an indication.
    case unexpectedConfirmation
    /// A command that would have received this error if it had been a request.
    case refused(ATTErrorCode)
    /// A signed write over an encrypted link, where an unsigned one must be used (Vol 3, Part C, 10.4.1), or over a
    /// bearer that carries no signed writes.
    case signatureUnneeded
    /// A command from a client that does not know of a change of the database (Vol 3, Part G, 2.5.2.1).
    case databaseOutOfSync
    /// The bearer has timed out, or its channel is closed.
    case bearerClosed
}

/// Identifies one request that waits for the application's answer.
public struct GATTRequestToken: Hashable, Sendable {
    /// The channel that the request arrived on, which must also carry the response.
    public let channel: AttributeChannel.ID
    let rawValue: UInt32
}

/// How a client's configuration of a characteristic changed.
public struct GATTSubscriptionChange: Equatable, Sendable {
    /// The handle of the characteristic's value.
    public var characteristic: AttributeHandle
    /// The previous configuration. Empty if there was none, and if the client enables a restored subscription by its
    /// first write on this link, which starts the subscription over.
    public var old: GATTClientConfiguration
    /// The configuration from now on; empty if the client has unsubscribed.
    public var new: GATTClientConfiguration
    /// Whether the subscription comes from an earlier link of a bonded client that has not written it on this link
    /// (Core 5.4, Vol 3, Part G, 2.4).
    public var isRestored: Bool

    /// Creates a change of the configuration from `old` to `new`.
    public init(
        characteristic: AttributeHandle, old: GATTClientConfiguration, new: GATTClientConfiguration,
        isRestored: Bool = false
    ) {
        self.characteristic = characteristic
        self.old = old
        self.new = new
        self.isRestored = isRestored
    }
}

/// A change to one attribute by executing queued writes.
public enum GATTValueChange: Equatable, Sendable {
    /// A value that the database keeps: `GATTDatabase.value(of:)` returns the new one.
    case value(AttributeHandle)
    case subscription(GATTSubscriptionChange)
    case clientSupportedFeatures(GATTClientSupportedFeatures)
}

/// Why the server rejected a call from the application.
@nonexhaustive
public enum GATTServerError: Error, Equatable, Sendable {
    /// The request has been answered, has expired, or belongs to another connection.
    case staleToken
    /// The answer does not match the request: for example, a value for a write, or an acceptance for a read.
    case wrongAnswer
    /// The client has not subscribed to notifications, or indications, of this value.
    case notSubscribed(AttributeHandle)
    /// The link does not have, or does not have yet, the security required to subscribe.
    case insufficientSecurity(ATTErrorCode)
    /// The value does not fit in one PDU, which holds `maximum` octets of it.
    case valueTooLong(maximum: Int)
    /// The client does not support several values in one notification, or there are fewer than two.
    case multipleNotificationsNotSupported
    /// The client does not know yet that the database has changed, and would mistake the value for that of another
    /// attribute (Core 5.4, Vol 3, Part G, 2.5.2.1).
    case changeUnaware
    /// The previous indication is not confirmed yet.
    case indicationPending
    /// The bearer has timed out, or its channel is closed.
    case bearerClosed
}
