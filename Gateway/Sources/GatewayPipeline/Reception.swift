import BluetoothBase
import BluetoothValues

/// One advertising packet as an adapter of this machine received it: what the pipeline is fed with.
public struct Reception: Equatable, Sendable {
    /// The adapter, as the gateway's user knows it: `hci0`, or the name of a transport.
    public var adapter: String
    /// The address that the packet came from.
    public var address: DeviceAddress
    /// The address under which the device is known, whatever private address it uses just now.
    public var identity: DeviceAddress
    /// The signal strength in dBm; nil if it was not measured.
    public var rssi: Int8?
    public var isConnectable: Bool
    public var advertisingData: [UInt8]
    /// Empty if the device was not asked or has not answered yet.
    public var scanResponseData: [UInt8]
    /// When it was received, by the monotonic clock. All waits and intervals go by this.
    public var instant: Instant

    public init(
        adapter: String, address: DeviceAddress, identity: DeviceAddress? = nil, rssi: Int8?,
        isConnectable: Bool = false, advertisingData: [UInt8], scanResponseData: [UInt8] = [], instant: Instant
    ) {
        self.adapter = adapter
        self.address = address
        self.identity = identity ?? address
        self.rssi = rssi
        self.isConnectable = isConnectable
        self.advertisingData = advertisingData
        self.scanResponseData = scanResponseData
        self.instant = instant
    }
}

/// A time of day. It is told to readers and decides nothing, so a clock that jumps does no harm.
public struct WallTime: Hashable, Sendable {
    /// Milliseconds since the beginning of 1970, UTC.
    public var milliseconds: Int64

    public init(milliseconds: Int64) { self.milliseconds = milliseconds }
}

/// What leaves the pipeline: something about a device that is worth telling.
public struct Report: Equatable, Sendable {
    /// Why it is told.
    public enum Reason: Equatable, Sendable {
        /// A value is new or has changed, or the interval for repetitions has passed.
        case state
        /// Something happened, such as the press of a button.
        case event
    }

    public var reason: Reason
    /// The address under which the device is known.
    public var identity: DeviceAddress
    /// The address of the last packet.
    public var address: DeviceAddress
    /// The advertised name. It comes from the air and may contain anything.
    public var name: String?
    /// The company whose data it advertises.
    public var companyID: UInt16?
    public var isConnectable: Bool
    /// The adapter that heard the device best since the last report.
    public var adapter: String
    /// The mean signal strength at that adapter since the last report, in dBm.
    public var rssi: Int8?
    /// The format of the values; nil if no known format was found.
    public var format: String?
    /// Whether the device sends only when something happens: its silence says nothing.
    public var isTriggerBased: Bool
    /// All that is known of the device's state, also from earlier packets; of an event, what happened.
    public var fields: [AdvertisedField]
    public var advertisingData: [UInt8]
    public var scanResponseData: [UInt8]
    public var time: WallTime
}

/// A message for a broker.
public struct Publication: Equatable, Sendable {
    /// What is done with a message while the broker is away.
    public enum Importance: Sendable {
        /// It is kept on disk until the broker has it. MQTT's quality of service 1.
        case lasting
        /// It is given up, and counted: the next one tells more. Quality of service 0.
        case passing
    }

    public var topic: String
    public var payload: [UInt8]
    public var isRetained: Bool
    public var importance: Importance

    public init(topic: String, payload: [UInt8], isRetained: Bool = false, importance: Importance = .lasting) {
        self.topic = topic
        self.payload = payload
        self.isRetained = isRetained
        self.importance = importance
    }

    public init(topic: String, text: String, isRetained: Bool = false, importance: Importance = .lasting) {
        self.init(topic: topic, payload: Array(text.utf8), isRetained: isRetained, importance: importance)
    }
}
