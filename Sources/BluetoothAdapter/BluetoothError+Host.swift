import BluetoothATT
import BluetoothGATT
import BluetoothHost
import BluetoothL2CAP

extension BluetoothError {
    /// Creates the application's error for an error of the host.
    public init(_ error: HostError) {
        switch error {
        case .notReady, .controllerReset: self = .notReady
        case .noSuchLink: self = .disconnected(.unknown)
        case .controller(let status): self = .refusedByController(status)
        case .unsupported(let feature): self = .notSupported(feature)
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
        case .database(let error): self = .invalidDefinition(error)
        case .advertisingData(let error): self = .advertisingDataTooLong(.payload(error))
        case .advertisingDataTooLong(let limit): self = .advertisingDataTooLong(.controller(limit: limit))
        case .pairing(let error): self = .pairingFailed(error)
        case .bondNotStored(let cause): self = .bondNotStored(cause)
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
        case .multipleNotificationsNotSupported: self = .notSupported(.multipleNotifications)
        case .changeUnaware: self = .notSupported(.outdatedPeer)
        case .indicationPending: self = .tooManyPending
        case .bearerClosed: self = .disconnected(.transactionTimeout)
        }
    }
}
