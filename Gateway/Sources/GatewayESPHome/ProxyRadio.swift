import BluetoothLE

/// The adapters, as a proxy's clients use them.
public protocol ProxyRadio: Sendable {
    /// How many connections there may be, and the devices that have one or are about to.
    var places: ProxyPlaces { get }
    /// Whether some adapter scans, and whether devices are asked for their scan responses.
    var scanning: ProxyScanning { get }
    /// Whether clients may pair with devices and remove bonds.
    var allowsPairing: Bool { get }

    /// Connects to a device on behalf of a client, which owns the connection until it is closed.
    func connect(to device: DeviceAddress, for client: ProxyClientID) async throws(ProxyError) -> any ProxyLink
    /// Removes the bonds with a device.
    func unpair(_ device: DeviceAddress) async throws(ProxyError)
    /// Forgets what was discovered of a device, so that it is asked again.
    func forgetServices(of device: DeviceAddress) async throws(ProxyError)
    /// Scans so that devices are asked for their scan responses, or not.
    ///
    /// - Parameter isActive: nil for what the configuration says.
    func scan(isActive: Bool?)
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
    /// Hands over what the device notifies or indicates, until the connection ends. Returns why it has.
    func forward(_ take: @Sendable (_ handle: AttributeHandle, _ value: [UInt8]) -> Void) async -> ProxyError
    /// Ends the connection, if it has not, and returns when it has.
    func close() async
    /// Gives its place back. Called once, after `close`.
    func release()
}

/// A client, as long as it is connected.
public struct ProxyClientID: Hashable, Sendable {
    public var number: UInt64

    public init(number: UInt64) { self.number = number }
}

/// The places for connections.
public struct ProxyPlaces: Equatable, Sendable {
    public var limit: Int
    public var taken: [DeviceAddress]

    public init(limit: Int, taken: [DeviceAddress]) {
        self.limit = limit
        self.taken = taken
    }
}

/// How adapters scan.
public struct ProxyScanning: Equatable, Sendable {
    public var isRunning: Bool
    public var isActive: Bool
    /// What the configuration says.
    public var isActiveByConfiguration: Bool

    public init(isRunning: Bool, isActive: Bool, isActiveByConfiguration: Bool) {
        self.isRunning = isRunning
        self.isActive = isActive
        self.isActiveByConfiguration = isActiveByConfiguration
    }
}

/// Why something was not done, as a number that clients know: an ATT error code, why a controller ended a link, or one of
/// those below.
public struct ProxyError: Error, Hashable, Sendable {
    public var code: Int32

    public init(code: Int32) { self.code = code }

    /// There is no connection to the device.
    public static let notConnected = Self(code: -1)
    public static let insufficientAuthorization = Self(code: 0x08)
    public static let insufficientResources = Self(code: 0x11)
    /// Too much waits.
    public static let busy = Self(code: 0x84)
    /// Something that has no number of its own.
    public static let failed = Self(code: 0x85)
    public static let pairingFailed = Self(code: 0x89)
    /// The device did not answer in time.
    public static let timedOut = Self(code: 0x08)
    public static let endedByThisDevice = Self(code: 0x16)
    public static let notEstablished = Self(code: 0x3E)
    /// There is no adapter, or no free place.
    public static let noConnection = Self(code: 0x101)

    /// - Parameter error: what an operation on a connection threw.
    public init(_ error: BluetoothError) {
        switch error {
        case .att(let error): self.init(code: Int32(error.code.rawValue))
        case .insufficientSecurity(let code): self.init(code: Int32(code.rawValue))
        case .disconnected, .adapterRemoved, .adapterClosed, .notReady: self = .notConnected
        case .tooManyPending: self = .busy
        case .valueTooLong: self.init(code: 0x0D)
        case .pairingFailed: self = .pairingFailed
        default: self = .failed
        }
    }

    /// - Parameter error: why a connection was not made.
    public init(connecting error: BluetoothError) {
        switch error {
        case .timedOut, .peerNotResponding: self = .timedOut
        case .connectionFailed: self = .notEstablished
        case .cancelled: self = .endedByThisDevice
        case .disconnected(let reason): self.init(reason)
        case .refusedByController(let status): self.init(code: Int32(status.rawValue))
        case .adapterRemoved, .adapterClosed, .notReady: self = .noConnection
        default: self = .failed
        }
    }

    /// - Parameter reason: why a connection ended.
    public init(_ reason: DisconnectReason) {
        switch reason {
        case .byPeer, .peerShutDown: self.init(code: 0x13)
        case .byThisDevice, .consumerTooSlow, .peerTooFast: self = .endedByThisDevice
        case .supervisionTimeout: self = .timedOut
        case .transactionTimeout: self.init(code: 0x22)
        case .encryption(let status), .other(let status): self.init(code: Int32(status.rawValue))
        case .adapterReset, .adapterRemoved: self = .noConnection
        case .unknown: self.init(code: 0)
        }
    }
}
