import BluetoothHost

extension BluetoothError: CustomStringConvertible {
    /// One line that states what failed and what can be done about it.
    public var description: String {
        switch kind {
        case .transport(let error): "\(error)"
        case .adapter(let failure): "\(failure)"
        case .adapterClosed: "the adapter has been closed; open it again"
        case .adapterRemoved: "the adapter is gone; plug it in again, or restart the other end of its transport"
        case .disconnected(let reason): "disconnected: \(reason)"
        case .timedOut: "timed out"
        case .answerLost:
            "the peer closed the channel before it answered the request; read the value to see whether it took effect"
        case .peerNotResponding: "the peer was connected, and did not answer; restart it, or allow more time"
        case .cancelled: "cancelled"
        case .att(let error): "the peer refused: \(error)"
        case .notReady: "the adapter is not ready yet"
        case .alreadyConnected: "a connection to this peer, or an attempt to establish one, already exists"
        case .connectionFailed: "the connection failed to be established; move closer to the peer and try again"
        case .refusedByController(let status): "the controller refused: \(status)"
        case .refusedByPeer: "the peer rejected the request"
        case .invalidParameters: "a parameter is outside the range that the specification allows"
        case .tooManyPending: "too many operations are pending; wait for some of them to finish"
        case .notSubscribed(let handle): "the peer has not subscribed to the value at \(handle)"
        case .insufficientSecurity(let code): "the link does not have the security that the value requires: \(code)"
        case .pairingFailed(let error): "pairing failed: \(error)"
        case .channelRefused(let failure): "\(failure)"
        case .channelReconfigurationFailed(let failure): "\(failure)"
        case .channelClosed(let end): "\(end)"
        case .syncEnded(let end): "\(end)"
        case .bondNotStored(let cause?): "the change to the bond could not be stored: \(cause)"
        case .bondNotStored(nil): "the adapter was closed before the change to the bond was stored"
        case .notBonded: "there is no bond with this peer; pair with it first"
        case .requestExpired: "the request was already answered, or it timed out"
        case .invalidResponse(let what): "the peer violated the protocol: \(what)"
        case .servicesChanged: "the peer's services have changed; discover them again"
        case .dataLost: "part of the peer's data was lost"
        case .notFound(let uuid): "the peer has no attribute with the UUID \(uuid)"
        case .notSupported(let what): "\(what)"
        case .valueTooLong(let maximum): "the value is too long: at most \(maximum) octets fit"
        case .malformedValue(let uuid, let failure):
            "the peer's value of \(uuid) is malformed: \(failure); read it as bytes to inspect it"
        case .invalidDefinition(let why): "the service cannot be published: \(why)"
        case .advertisingDataTooLong(let why): "the advertising data is too long: \(why)"
        case .overflow:
            "values arrived faster than they were consumed; consume them without doing other work in between"
        case .messageIncomplete(let count, let why):
            "the message was interrupted after \(count) octet\(count == 1 ? "" : "s"): \(why)"
        case .messageTooLong(let maximum): "the message is longer than the \(maximum) octets allowed"
        }
    }
}

extension BluetoothError.Unsupported: CustomStringConvertible {
    /// The capability that is missing, as a clause.
    public var description: String {
        switch self {
        case .feature(let feature): "\(feature)"
        case .subscriptions: "the characteristic supports neither notifications nor indications"
        case .descriptorCommands: "descriptors can only be written with a response"
        case .multipleNotifications: "the peer does not support Multiple Handle Value Notifications"
        case .outdatedPeer: "the peer has not been informed yet that the services have changed"
        }
    }
}

extension BluetoothError.ExcessiveAdvertisement: CustomStringConvertible {
    package var description: String {
        switch self {
        case .payload(let error): "\(error)"
        case .controller(let limit): "the controller accepts at most \(limit) octets"
        }
    }
}

extension MessageInterruption: CustomStringConvertible {
    /// The cause as a clause for the middle of a sentence, such as "part of the peer's data was lost".
    public var description: String {
        switch self {
        case .disconnected(let reason): "\(reason)"
        case .dataLost: "part of the peer's data was lost"
        case .stalled(let limit): "no more data arrived for \(limit)"
        case .tooSlow(let limit): "it was still incomplete after \(limit)"
        }
    }
}
