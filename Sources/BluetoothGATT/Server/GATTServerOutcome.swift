import BluetoothATT

/// What a PDU from a client brought about, beside the response the server wrote.
///
/// Ranges count from the first octet of the PDU, the opcode: nothing needs to be copied.
public enum GATTServerOutcome: Equatable, Sendable {
    /// Nothing that anybody has to know.
    case none
    /// A value was written, and the database keeps it unless it is dynamic. There is nothing to answer.
    case valueWritten(handle: AttributeHandle, value: Range<Int>)
    /// A value came with a signature, which the server has not verified: if it is right, `AttributeEndpoint.commitSigned`.
    case signedWriteReceived(handle: AttributeHandle, value: Range<Int>)
    /// The application has to answer with the value from `offset` on: `AttributeEndpoint.answer` or `refuse`.
    case readRequested(GATTRequestToken, handle: AttributeHandle, offset: Int)
    /// The application has to take or refuse a value: `AttributeEndpoint.accept` or `refuse`.
    case writeRequested(GATTRequestToken, handle: AttributeHandle, value: Range<Int>)
    /// The application has to take or refuse a list of queued writes together, which `AttributeEndpoint.preparedWrites(for:)`
    /// has: `AttributeEndpoint.accept` or `refuse`. The values the database keeps change only when it accepts.
    case executeRequested(GATTRequestToken)
    /// The application has to say whether the client may access an attribute: `AttributeEndpoint.authorize` or `refuse`. What
    /// the client wants waits, and no other channel with it.
    case authorizationRequested(GATTRequestToken, handle: AttributeHandle, access: GATTAccess)
    /// Queued writes were done; these are the attributes whose values changed.
    case preparedWritesExecuted([GATTValueChange])
    /// A client began or ceased to listen to a characteristic.
    case subscriptionChanged(GATTSubscriptionChange)
    /// A client has written its supported features; keep them with its bond.
    case clientSupportedFeaturesChanged(GATTClientSupportedFeatures)
    /// The client asked for an ATT_MTU, and this one counts from now on.
    case mtuExchanged(Int)
    /// The client has received the indication of this value; the next may be sent.
    case confirmationReceived(AttributeHandle)
    /// The application did not answer in time, and the server answered Unlikely Error in its place. The token is no
    /// longer good.
    case requestExpired(GATTRequestToken)
    /// The request was answered with this error.
    case refused(ATTError)
    /// The PDU was ignored.
    case dropped(GATTDropReason)
}

/// Why a server ignored a PDU without an answer.
public enum GATTDropReason: Equatable, Sendable {
    /// A command or a confirmation without its proper shape, or an empty PDU.
    case malformed
    /// A command or a confirmation longer than the ATT_MTU.
    case tooLong
    /// An opcode that is not assigned, and asks not to be answered (Core 5.4, Vol 3, Part F, 3.3.1).
    case unknownCommand
    /// A response, a notification or an indication: nothing a client sends.
    case notForServer
    /// A request while the one before it is still being served, which a client must not send (Vol 3, Part F, 3.3.2).
    case requestPending
    /// A confirmation although no indication was sent.
    case unexpectedConfirmation
    /// A command that would have been answered with this error, had it been a request.
    case refused(ATTErrorCode)
    /// A signed write over an encrypted link, where a plain one belongs (Vol 3, Part C, 10.4.1).
    case signatureUnneeded
    /// A command of a client that does not know of a change of the database (Vol 3, Part G, 2.5.2.1).
    case databaseOutOfSync
    /// A time-out has ended the bearer.
    case bearerClosed
}

/// One application's chance to answer one request.
public struct GATTRequestToken: Hashable, Sendable {
    /// The channel that the request came over and that its response has to take.
    public let channel: AttributeChannel.ID
    let rawValue: UInt32
}

/// How a client's configuration of a characteristic changed.
public struct GATTSubscriptionChange: Equatable, Sendable {
    /// The handle of the characteristic's value.
    public var characteristic: AttributeHandle
    /// Empty also where the client has written for the first time to a subscription that was restored: it begins anew.
    public var old: GATTClientConfiguration
    public var new: GATTClientConfiguration
    /// Whether a bonded client has it from an earlier link, and has not spoken of it on this one (Core 5.4, Vol 3, Part G,
    /// 2.4).
    public var isRestored: Bool

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

/// What an executed queue of writes changed at one attribute.
public enum GATTValueChange: Equatable, Sendable {
    /// A value that the database keeps: `GATTDatabase.value(of:)` has the new one.
    case value(AttributeHandle)
    case subscription(GATTSubscriptionChange)
    case clientSupportedFeatures(GATTClientSupportedFeatures)
}

/// Why the server would not do what the application asked for.
public enum GATTServerError: Error, Equatable, Sendable {
    /// The request has been answered, has expired, or belongs to another connection.
    case staleToken
    /// A value for a write, or an acceptance for a read.
    case wrongAnswer
    /// The client did not ask for notifications, or indications, of this value.
    case notSubscribed(AttributeHandle)
    /// The link is not, or not yet, what the client had to be to subscribe.
    case insufficientSecurity(ATTErrorCode)
    /// The value does not fit into one PDU, which holds `maximum` octets of it.
    case valueTooLong(maximum: Int)
    /// The client does not understand several values in one notification, or there are fewer than two.
    case multipleNotificationsNotSupported
    /// The client does not know yet that the database has changed, and would take the value for another one's (Core 5.4, Vol
    /// 3, Part G, 2.5.2.1).
    case changeUnaware
    /// The indication before this one is not confirmed yet.
    case indicationPending
    /// A time-out has ended the bearer.
    case bearerClosed
}
