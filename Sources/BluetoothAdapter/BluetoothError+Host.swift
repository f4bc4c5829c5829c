import BluetoothATT
import BluetoothGATT
import BluetoothHost
import BluetoothL2CAP

extension BluetoothError {
    /// The feature whose absence `.notSupported` reports; nil for other errors, and where the peer lacks something.
    public var missingFeature: ControllerFeature? {
        guard case .notSupported(let what) = self else { return nil }
        return ControllerFeature.allCases.first { $0.description == what }
    }

    /// The application's error for an error of the host.
    public init(_ error: HostError) {
        switch error {
        case .notReady, .controllerReset: self = .notReady
        case .noSuchLink: self = .disconnected(.unknown)
        case .controller(let status): self = .refusedByController(status)
        case .unsupported(let feature): self = .notSupported("\(feature)")
        case .busy: self = .tooManyPending
        case .invalidParameters: self = .invalidParameters
        case .alreadyConnected: self = .alreadyConnected
        case .connectionFailedToBeEstablished: self = .connectionFailed
        case .timedOut: self = .timedOut
        case .peerNotResponding: self = .peerNotResponding
        case .cancelled: self = .cancelled
        case .refusedByPeer: self = .refusedByPeer
        case .client(let error): self.init(error)
        case .server(let error): self.init(error)
        case .disconnected(let reason): self = .disconnected(reason)
        case .adapterRemoved: self = .adapterRemoved
        case .notFound(let uuid): self = .notFound(uuid)
        case .servicesChanged: self = .servicesChanged
        case .database(let error): self = .invalidDefinition("\(error)")
        case .advertisingData(let error): self = .advertisingDataTooLong("\(error)")
        case .advertisingDataTooLong(let limit):
            self = .advertisingDataTooLong("the controller takes at most \(limit) octets")
        case .pairing(let error): self = .pairingFailed(error)
        case .bondNotStored: self = .bondNotStored
        case .notBonded: self = .notBonded
        case .noSuchChannel: self = .channelClosed(.byThisDevice)
        case .noSuchSync: self = .syncEnded(.lost)
        case .channel(let failure): self = .channelRefused(failure)
        case .channelReconfiguration(let failure): self = .channelReconfigurationFailed(failure)
        }
    }

    private init(_ error: GATTClientError) {
        switch error {
        case .att(let error): self = .att(error)
        case .cancelled: self = .cancelled
        case .transactionTimedOut: self = .timedOut
        case .valueTooLong(let maximum): self = .valueTooLong(maximum: maximum)
        case .disconnected: self = .disconnected(.unknown)
        case .bearerClosed, .notBegun: self = .answerLost
        case .invalidResponse(let what): self = .invalidResponse(what)
        case .tooManyOperations: self = .tooManyPending
        case .invalidHandleCount: self = .invalidParameters
        }
    }

    private init(_ error: GATTServerError) {
        switch error {
        case .staleToken, .wrongAnswer: self = .requestExpired
        case .notSubscribed(let handle): self = .notSubscribed(handle)
        case .insufficientSecurity(let code): self = .insufficientSecurity(code)
        case .valueTooLong(let maximum): self = .valueTooLong(maximum: maximum)
        case .multipleNotificationsNotSupported: self = .notSupported("the peer takes one value at a time")
        case .changeUnaware: self = .notSupported("the peer does not know yet that the services have changed")
        case .indicationPending: self = .tooManyPending
        case .bearerClosed: self = .disconnected(.transactionTimeout)
        }
    }
}
