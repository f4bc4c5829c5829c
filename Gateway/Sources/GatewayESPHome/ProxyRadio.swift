import BluetoothLE

/// The adapters, as used by a proxy's clients.
public protocol ProxyRadio: Sendable {
    /// The maximum number of connections, and the devices that are connected or about to be.
    var places: ProxyPlaces { get }
    /// Whether an adapter is scanning, and whether the scan is active.
    var scanning: ProxyScanning { get }
    /// Whether clients may pair with devices and remove bonds.
    var allowsPairing: Bool { get }

    /// Connects to a device on behalf of a client, which owns the connection until it is closed.
    func connect(to device: DeviceAddress, for client: ProxyClientID) async throws(ProxyError) -> any ProxyLink
    /// Removes the bonds with a device.
    func unpair(_ device: DeviceAddress) async throws(ProxyError)
    /// Discards the cached services of a device, so that they are discovered again.
    func forgetServices(of device: DeviceAddress) async throws(ProxyError)
    /// Selects active or passive scanning on behalf of a client. The latest request applies. When its client withdraws
    /// it, the latest request of the other clients applies again.
    ///
    /// - Parameter isActive: whether to scan actively; nil withdraws the client's request.
    func scan(isActive: Bool?, for client: ProxyClientID)
}

/// A connection to a device.
public protocol ProxyLink: Sendable {
    /// ATT_MTU.
    var mtu: Int { get async throws(ProxyError) }
    func discover() async throws(ProxyError) -> DiscoveredDatabase
    func read(_ handle: AttributeHandle) async throws(ProxyError) -> [UInt8]
    func write(_ value: [UInt8], to handle: AttributeHandle) async throws(ProxyError)
    func writeWithoutResponse(_ value: [UInt8], to handle: AttributeHandle) async throws(ProxyError)
    func pair() async throws(ProxyError)
    func updateParameters(_ parameters: ConnectionParameters) async throws(ProxyError)
    /// Passes on notifications and indications from the device until the connection ends. Returns the reason for its
    /// end.
    func forward(_ take: @Sendable (_ handle: AttributeHandle, _ value: [UInt8]) -> Void) async -> ProxyError
    /// Ends the connection if it is open, and returns when it has ended.
    func close() async
    /// Returns the connection's place. Called once, after `close`.
    func release()
}

/// Identifies a client while it is connected.
public struct ProxyClientID: Hashable, Sendable {
    /// The number of the client's connection, counted from 1 and not reused.
    public var number: UInt64

    /// Creates the ID of the client with this number.
    public init(number: UInt64) { self.number = number }
}

/// The places for connections: their number, and the devices that have one.
public struct ProxyPlaces: Equatable, Sendable {
    /// The maximum number of simultaneous connections.
    public var limit: Int
    /// The devices that are connected or about to be.
    public var taken: [DeviceAddress]

    /// Creates places from their number and the devices that have one.
    public init(limit: Int, taken: [DeviceAddress]) {
        self.limit = limit
        self.taken = taken
    }
}

/// The state of scanning.
public struct ProxyScanning: Equatable, Sendable {
    /// Whether an adapter is scanning.
    public var isRunning: Bool
    /// Whether the scan is active, that is, requests scan responses.
    public var isActive: Bool
    /// The configured mode.
    public var isActiveByConfiguration: Bool

    /// Creates a state of scanning.
    public init(isRunning: Bool, isActive: Bool, isActiveByConfiguration: Bool) {
        self.isRunning = isRunning
        self.isActive = isActive
        self.isActiveByConfiguration = isActiveByConfiguration
    }
}

/// The reason why an operation failed, as a number that clients know: an ATT error code, the reason for which a
/// controller ended a link, or one of the values below.
public struct ProxyError: Error, Hashable, Sendable {
    /// The number that clients receive.
    public var code: Int32

    /// Creates an error with the number that clients receive.
    public init(code: Int32) { self.code = code }

    /// There is no connection to the device.
    public static let notConnected = Self(code: -1)
    /// The client may not pair or remove bonds: Insufficient Authorization (Core 5.4, Vol 3, Part F, 3.4.1.1). It has
    /// the same number as `timedOut`.
    public static let insufficientAuthorization = Self(code: 0x08)
    /// A limit of the proxy is exceeded: Insufficient Resources (Core 5.4, Vol 3, Part F, 3.4.1.1).
    public static let insufficientResources = Self(code: 0x11)
    /// Too many requests are pending.
    public static let busy = Self(code: 0x84)
    /// A failure that has no number.
    public static let failed = Self(code: 0x85)
    /// Pairing failed.
    public static let pairingFailed = Self(code: 0x89)
    /// The device did not answer in time.
    public static let timedOut = Self(code: 0x08)
    /// The proxy ended the connection: Connection Terminated by Local Host (Core 5.4, Vol 1, Part F, 1.3).
    public static let endedByThisDevice = Self(code: 0x16)
    /// The connection was not established: Connection Failed to be Established (Core 5.4, Vol 1, Part F, 1.3).
    public static let notEstablished = Self(code: 0x3E)
    /// No adapter, or no place, is available.
    public static let noConnection = Self(code: 0x101)

    /// - Parameter error: the error thrown by an operation on a connection.
    public init(_ error: BluetoothError) {
        if let refusal = error.attError?.code ?? error.missingSecurity {
            self.init(code: Int32(refusal.rawValue))
            return
        }
        switch error.code {
        case .disconnected, .adapterRemoved, .adapterClosed, .notReady: self = .notConnected
        case .tooManyPending: self = .busy
        case .valueTooLong: self.init(code: 0x0D)
        case .pairingFailed: self = .pairingFailed
        default: self = .failed
        }
    }

    /// - Parameter error: the reason why a connection was not established.
    public init(connecting error: BluetoothError) {
        if let reason = error.disconnectReason {
            self.init(reason)
            return
        }
        if let status = error.controllerStatus {
            self.init(code: Int32(status.rawValue))
            return
        }
        switch error.code {
        case .timedOut, .peerNotResponding: self = .timedOut
        case .connectionFailed: self = .notEstablished
        case .cancelled: self = .endedByThisDevice
        case .adapterRemoved, .adapterClosed, .notReady: self = .noConnection
        default: self = .failed
        }
    }

    /// - Parameter reason: the reason why a connection ended.
    public init(_ reason: DisconnectReason) {
        switch reason {
        case .byPeer, .peerShutDown: self.init(code: 0x13)
        case .byThisDevice, .consumerTooSlow, .peerTooFast: self = .endedByThisDevice
        case .supervisionTimeout: self = .timedOut
        case .transactionTimeout: self.init(code: 0x22)
        case .encryption(let status), .other(let status): self.init(code: Int32(status.rawValue))
        case .adapterReset, .adapterRemoved: self = .noConnection
        case .unknown: self.init(code: 0)
        @unknown default: self.init(code: 0)
        }
    }
}
