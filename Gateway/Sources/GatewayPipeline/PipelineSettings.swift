import BluetoothBase

/// What a pipeline does with what it is fed.
public struct PipelineSettings: Equatable, Sendable {
    /// What has to change for a device to be told of again before the interval for repetitions has passed.
    public enum Comparison: Equatable, Sendable {
        /// The values, where the format is known; else the data.
        case values
        /// The octets that the device advertises.
        case data
    }

    public var filter = DeviceFilter()
    /// The keys of encrypted BTHome devices, of 16 octets.
    public var keys: [DeviceAddress: [UInt8]] = [:]
    public var comparison = Comparison.values
    /// Whether devices without values in a known format are told of.
    public var tellsUndecoded = false
    /// The time after which the state of a device is published again although it has not changed.
    public var repetition = Duration.seconds(60)
    /// The window over which values are averaged; nil for none.
    public var averaging: Duration?
    /// The most messages a second about one device, and the most at once.
    public var deviceRate = 1.0
    public var deviceBurst = 3
    /// The most messages a second in all, and the most at once.
    public var totalRate = 2000.0
    public var totalBurst = 4000
    /// After what silence a device is forgotten.
    public var expiry = Duration.seconds(300)
    /// How many devices are remembered. Beyond that the one not heard for longest is forgotten.
    public var capacity = 10_000

    public init() {}

    /// How many values of a device are kept.
    static let fieldLimit = 64
    /// An event whose packets have no number is another one after such a silence.
    static let eventSilence = Duration.seconds(5)
    /// After what silence of its messages a device may have begun to count anew, with a new battery for example.
    static let counterSilence = Duration.seconds(600)
}

/// What a pipeline has done since it was made.
public struct PipelineCounters: Equatable, Sendable {
    /// Packets taken in.
    public var received: UInt64 = 0
    /// … of which no condition of the filter let through.
    public var filtered: UInt64 = 0
    /// … that said nothing new.
    public var repeated: UInt64 = 0
    /// … in no known format.
    public var undecoded: UInt64 = 0
    /// … that are encrypted, and for which there is no key that fits.
    public var withoutKey: UInt64 = 0
    /// … that were encrypted and came with an old number: somebody else may have recorded and sent them again.
    public var replayed: UInt64 = 0
    /// Reports made.
    public var reported: UInt64 = 0
    /// Times that a state had to wait because of a cap. What it was then was told later.
    public var delayed: UInt64 = 0
    /// Events that were given up because of the cap on all devices.
    public var droppedEvents: UInt64 = 0
    /// Devices that were forgotten because there were too many.
    public var displaced: UInt64 = 0

    public init() {}
}
