/// The state of the connection to a peripheral.
public enum CBPeripheralState: Int, Sendable {
    case disconnected = 0
    case connecting = 1
    case connected = 2
    case disconnecting = 3
}

/// Whether a write requests a response.
public enum CBCharacteristicWriteType: Int, Sendable {
    case withResponse = 0
    case withoutResponse = 1
}

/// An event of a link, including links of other programs.
public enum CBConnectionEvent: Int, Sendable {
    case peerDisconnected = 0
    case peerConnected = 1
}

/// The desired connection latency.
public enum CBPeripheralManagerConnectionLatency: Int, Sendable {
    case low = 0
    case medium = 1
    case high = 2
}

/// The peripherals to report connection events for.
public struct CBConnectionEventMatchingOption: RawRepresentable, Hashable, Sendable {
    /// The text that identifies the option.
    public let rawValue: String

    /// Creates an option from its text. `registerForConnectionEvents` ignores options other than the two constants.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The peripherals that have at least one of these services: `[CBUUID]`, at most four.
    public static let serviceUUIDs = CBConnectionEventMatchingOption(rawValue: "kCBConnectionEventServiceUUIDs")
    /// The peripherals with these identifiers: `[UUID]`.
    public static let peripheralUUIDs = CBConnectionEventMatchingOption(rawValue: "kCBConnectionEventPeripheralUUIDs")
}
