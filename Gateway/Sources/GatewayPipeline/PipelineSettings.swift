import BluetoothBase
import BluetoothCrypto

/// The settings of a pipeline.
public struct PipelineSettings: Equatable, Sendable {
    /// The change that causes a device to be reported again before the repetition interval has passed.
    public enum Comparison: Equatable, Sendable {
        /// The values if their format is known, otherwise the data.
        case values
        /// The octets that the device advertises.
        case data
    }

    /// The conditions for devices. Packets from other devices are only counted.
    public var filter = DeviceFilter()
    /// The keys of encrypted BTHome devices, 16 octets each. Nothing else from these devices is decoded.
    public var keys: [DeviceAddress: [UInt8]] = [:]
    /// The reason why the data of devices with keys cannot be decrypted; nil if it can, or if there are no keys.
    public var missingCiphers: CryptoUnavailable? { keys.isEmpty ? nil : LibraryToolbox.unavailability }
    /// The change that causes a new report. Defaults to a change of values.
    public var comparison = Comparison.values
    /// Whether devices without values in a known format are reported.
    public var tellsUndecoded = false
    /// The interval after which the state of a device is published again, even if it has not changed.
    public var repetition = Duration.seconds(60)
    /// The window over which values are averaged; nil disables averaging.
    public var averaging: Duration?
    /// The maximum number of messages per second for one device, and in one burst.
    public var deviceRate = 1.0
    /// The maximum number of messages for one device in one burst.
    public var deviceBurst = 3
    /// The maximum number of messages per second for all devices, and in one burst.
    public var totalRate = 2000.0
    /// The maximum number of messages for all devices in one burst.
    public var totalBurst = 4000
    /// The time without a packet after which a device is forgotten.
    public var expiry = Duration.seconds(300)
    /// The maximum number of devices. Beyond it, the device that was heard the longest time ago is forgotten.
    public var capacity = 10_000

    /// Creates the default settings, which accept all devices.
    public init() {}

    /// The maximum number of values kept for a device.
    static let fieldLimit = 64
    /// After this silence, a packet with an event but without a number counts as a new event.
    static let eventSilence = Duration.seconds(5)
    /// After this silence, a device may have restarted its message counter, for example with a new battery.
    static let counterSilence = Duration.seconds(600)
}

/// The activity of a pipeline since it was created.
public struct PipelineCounters: Equatable, Sendable {
    /// Packets received.
    public var received: UInt64 = 0
    /// Packets that the filter rejected.
    public var filtered: UInt64 = 0
    /// Packets that contained nothing new.
    public var repeated: UInt64 = 0
    /// Packets in no known format.
    public var undecoded: UInt64 = 0
    /// Encrypted packets for which there is no matching key, and other packets from devices with a key.
    public var withoutKey: UInt64 = 0
    /// Encrypted packets with an old counter, which an attacker may have recorded and replayed.
    public var replayed: UInt64 = 0
    /// Reports made.
    public var reported: UInt64 = 0
    /// The number of times that a rate limit delayed a state. The state was reported later.
    public var delayed: UInt64 = 0
    /// Events that were dropped because of the limit for all devices.
    public var droppedEvents: UInt64 = 0
    /// Devices that were forgotten because there were too many.
    public var displaced: UInt64 = 0

    /// Creates counters that are all zero.
    public init() {}
}
