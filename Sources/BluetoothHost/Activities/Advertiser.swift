import BluetoothBase
import BluetoothGAP
import BluetoothHCI

/// How to advertise (Core 5.4, Vol 4, Part E, 7.8.5).
public struct AdvertisingParameters: Equatable, Sendable {
    /// Whether peers may connect.
    public var isConnectable: Bool
    /// The range from which the controller takes its advertising interval, 20 ms to 10.24 s.
    public var interval: ClosedRange<Duration>
    /// At most 31 octets of AD structures.
    public var data: [UInt8]
    /// At most 31 octets of AD structures for those who ask.
    public var scanResponse: [UInt8]

    /// By default connectable, every 30 to 60 ms, as what wants to be found soon advertises.
    public init(
        isConnectable: Bool = true, interval: ClosedRange<Duration> = .milliseconds(30)...(.milliseconds(60)),
        data: [UInt8], scanResponse: [UInt8] = []
    ) {
        self.isConnectable = isConnectable
        self.interval = interval
        self.data = data
        self.scanResponse = scanResponse
    }
}

/// What is wanted of the advertiser, and what it does.
struct Advertiser: Sendable {
    var wanted: AdvertisingParameters?
    var activity: Activity<AdvertisingParameters> = .idle
    /// Set while the controller cannot advertise because of the links it has; tried again when one ends.
    var isPaused = false
    /// Whether the caller has been told that what is wanted has started.
    var hasAnnounced = false

    /// Set when a peer connected before the controller confirmed that it advertises: it may have stopped again.
    var mayHaveEnded = false

    /// Whether a peer may have connected: also while advertising is being started or stopped.
    var acceptsConnections: Bool {
        switch activity {
        case .idle: false
        case .starting(let parameters), .running(let parameters): parameters.isConnectable
        case .stopping: true
        }
    }
}
