import BluetoothBase
import BluetoothValues

/// An advertising packet as received by an adapter of this machine: the input of the pipeline.
public struct Reception: Equatable, Sendable {
    /// The name of the adapter, as known to the gateway's user: `hci0`, or the name of a transport.
    public var adapter: String
    /// The address that the packet was sent from.
    public var address: DeviceAddress
    /// The address that identifies the device, whatever private address it currently uses.
    public var identity: DeviceAddress
    /// The signal strength in dBm; nil if it was not measured.
    public var rssi: Int8?
    /// Whether the packet is a connectable advertisement.
    public var isConnectable: Bool
    /// The AD structures of the advertising packet (Core 5.4, Vol 3, Part C, 11).
    public var advertisingData: [UInt8]
    /// Empty if no scan response was requested or received.
    public var scanResponseData: [UInt8]
    /// The time of reception, on the monotonic clock. All delays and intervals use this clock.
    public var instant: Instant

    /// Creates a reception. If `identity` is nil, `address` also identifies the device.
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

/// A time of day. It is published, but never used in decisions, so clock changes do no harm.
public struct WallTime: Hashable, Sendable {
    /// Milliseconds since the start of 1970, UTC.
    public var milliseconds: Int64

    /// Creates a time of day from the milliseconds since the start of 1970, UTC.
    public init(milliseconds: Int64) { self.milliseconds = milliseconds }
}

/// The output of the pipeline: information about a device that should be published.
public struct Report: Equatable, Sendable {
    /// The reason for the report.
    public enum Reason: Equatable, Sendable {
        /// A value is new or has changed, or the interval for repetitions has passed.
        case state
        /// Something happened, such as a button press.
        case event
    }

    /// Whether the report describes the state of the device, or an event.
    public var reason: Reason
    /// The address that identifies the device.
    public var identity: DeviceAddress
    /// The address of the last packet.
    public var address: DeviceAddress
    /// The advertised name. It comes from the packet and may contain anything.
    public var name: String?
    /// The company identifier in its manufacturer data.
    public var companyID: UInt16?
    /// Whether the device's last packet was a connectable advertisement.
    public var isConnectable: Bool
    /// The adapter that heard the device best since the last report.
    public var adapter: String
    /// The mean signal strength at that adapter since the last report, in dBm.
    public var rssi: Int8?
    /// The format of the values; nil if no known format was found.
    public var format: String?
    /// Whether the device sends only when something happens, so that silence means nothing.
    public var isTriggerBased: Bool
    /// For a state, all values that are known, including those from earlier packets. For an event, what happened.
    public var fields: [AdvertisedField]
    /// The AD structures of the device's last advertising packet (Core 5.4, Vol 3, Part C, 11).
    public var advertisingData: [UInt8]
    /// The AD structures of the last scan response that was not empty. Empty if none was received.
    public var scanResponseData: [UInt8]
    /// The time of day at which the report was made.
    public var time: WallTime
}

/// A message for a broker.
public struct Publication: Equatable, Sendable {
    /// The treatment of a message while the broker is not connected.
    public enum Importance: Sendable {
        /// The message is kept on disk until the broker has acknowledged it. MQTT's quality of service 1.
        case lasting
        /// The message is dropped and counted, because the next one replaces it. Quality of service 0.
        case passing
    }

    /// The topic to publish the message to.
    public var topic: String
    /// The octets of the message.
    public var payload: [UInt8]
    /// Whether the broker stores the message for later subscribers (MQTT 3.1.1, 3.3.1.3).
    public var isRetained: Bool
    /// The treatment of the message while the broker is not connected.
    public var importance: Importance

    /// Creates a message from octets.
    public init(topic: String, payload: [UInt8], isRetained: Bool = false, importance: Importance = .lasting) {
        self.topic = topic
        self.payload = payload
        self.isRetained = isRetained
        self.importance = importance
    }

    /// Creates a message from text, which is encoded in UTF-8.
    public init(topic: String, text: String, isRetained: Bool = false, importance: Importance = .lasting) {
        self.init(topic: topic, payload: Array(text.utf8), isRetained: isRetained, importance: importance)
    }
}
