import BluetoothHost

extension BluetoothError: CustomStringConvertible {
    /// One line that states what failed and what can be done about it.
    public var description: String {
        switch kind {
        case .transport(let error): "\(error)"
        case .adapter(let failure): "\(failure)"
        case .adapterClosed: "the adapter has been closed; open it again"
        case .adapterRemoved: "the adapter is gone; plug it in again, or start what it is reached through"
        case .disconnected(let reason): "disconnected: \(reason)"
        case .timedOut: "timed out"
        case .answerLost:
            "the peer closed the channel of the request before it answered; read the value to see what it has done"
        case .peerNotResponding: "the peer was connected, and did not answer; restart it, or allow more time"
        case .cancelled: "cancelled"
        case .att(let error): "the peer refused: \(error)"
        case .notReady: "the adapter is not ready yet"
        case .alreadyConnected: "there is a connection to this peer, or an attempt at one, already"
        case .connectionFailed: "the connection failed to be established; move closer to the peer and try again"
        case .refusedByController(let status): "the controller refused: \(status)"
        case .refusedByPeer: "the peer did not agree"
        case .invalidParameters: "a parameter is outside what the specification allows"
        case .tooManyPending: "too much is pending already; wait for some of it to end"
        case .notSubscribed(let handle): "the peer has not subscribed to the value at \(handle)"
        case .insufficientSecurity(let code): "the link is not protected as the value demands: \(code)"
        case .pairingFailed(let error): "pairing failed: \(error)"
        case .channelRefused(let failure): "\(failure)"
        case .channelReconfigurationFailed(let failure): "\(failure)"
        case .channelClosed(let end): "\(end)"
        case .syncEnded(let end): "\(end)"
        case .bondNotStored: "the change could not be stored; make room where bonds are kept, and try again"
        case .notBonded: "there is no bond with this peer; pair with it first"
        case .requestExpired: "the request has been answered, or was given up because no answer came in time"
        case .invalidResponse(let what): "the peer broke the protocol: \(what)"
        case .servicesChanged: "the services of the peer have changed; discover them again"
        case .dataLost: "a part of what the peer sent was lost"
        case .notFound(let uuid): "the peer has no attribute with the UUID \(uuid)"
        case .notSupported(let what): "\(what)"
        case .valueTooLong(let maximum): "the value is too long: at most \(maximum) octets fit"
        case .malformedValue(let uuid, let failure):
            "the peer's value of \(uuid) is malformed, \(failure); read it as bytes to see what it is"
        case .invalidDefinition(let why): "the service cannot be published: \(why)"
        case .advertisingDataTooLong(let why): "the advertising data is too long: \(why)"
        case .overflow: "values came faster than they were taken; take them without doing other work between"
        case .messageIncomplete(let count, let why):
            "the message broke off after \(count) octet\(count == 1 ? "" : "s"): \(why)"
        case .messageTooLong(let maximum): "the message is longer than the \(maximum) octets allowed"
        }
    }
}

extension BluetoothError.Unsupported: CustomStringConvertible {
    package var description: String {
        switch self {
        case .feature(let feature): "\(feature)"
        case .subscriptions: "the characteristic neither notifies nor indicates"
        case .descriptorCommands: "descriptors can only be written with a response"
        case .multipleNotifications: "the peer does not support several values in one notification"
        case .outdatedPeer: "the peer has not been informed yet that the services have changed"
        }
    }
}

extension BluetoothError.ExcessiveAdvertisement: CustomStringConvertible {
    package var description: String {
        switch self {
        case .payload(let error): "\(error)"
        case .controller(let limit): "the controller takes at most \(limit) octets"
        }
    }
}

extension MessageInterruption: CustomStringConvertible {
    /// The cause as a clause for the middle of a sentence, such as "a part of what the peer sent was lost".
    public var description: String {
        switch self {
        case .disconnected(let reason): "\(reason)"
        case .dataLost: "a part of what the peer sent was lost"
        case .stalled(let limit): "nothing more came for \(limit)"
        case .tooSlow(let limit): "it was not complete after \(limit)"
        }
    }
}
