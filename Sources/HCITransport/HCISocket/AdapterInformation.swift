import BluetoothBase

/// Information that the kernel reports about one of its adapters.
public struct AdapterInformation: Hashable, Sendable {
    /// The bus an adapter is attached to; the raw values are the kernel's.
    @nonexhaustive
    public enum Bus: UInt8, Sendable {
        case virtual = 0
        case usb = 1
        case pccard = 2
        case uart = 3
        case rs232 = 4
        case pci = 5
        case sdio = 6
        case spi = 7
        case i2c = 8
        case smd = 9
        case virtio = 10
    }

    /// The state of an adapter, which depends on its current holder.
    @nonexhaustive
    public enum State: Hashable, Sendable {
        /// The adapter has no holder.
        case down
        /// The kernel is setting the adapter up. It has just been plugged in and can't be taken over yet.
        case initializing
        /// The kernel's own host stack, which the Bluetooth daemon controls, holds the adapter. It may still be
        /// bringing it up.
        case up
        /// A program, for example one that uses this package, has exclusive access through the adapter's user channel.
        case held(by: AdapterHolder?)
    }

    /// The kind of switch that blocks an adapter's radio.
    @nonexhaustive
    public enum Block: Hashable, Sendable {
        /// A software switch, which software can reverse.
        case software
        /// A switch or a key on the machine.
        case hardware
    }

    /// `N` of `hciN`. It may change when the adapter is plugged in again.
    public var index: UInt16
    /// The public address; nil if the adapter has none, or if the kernel does not know it yet.
    public var address: DeviceAddress?
    /// The bus the adapter is attached to; nil if unknown.
    public var bus: Bus?
    /// Whether the adapter is free, being set up or in use, and by which holder.
    public var state: State
    /// The switch that blocks the radio; nil if the radio is not blocked.
    public var block: Block?
    /// Whether the controller supports Low Energy; nil if the kernel has not read its features yet.
    public var supportsLowEnergy: Bool?

    /// The kernel's name for the adapter: `hciN`.
    public var name: String { "hci\(index)" }

    /// Creates a record of an adapter. By default, the adapter is down and everything else except its index is unknown.
    public init(
        index: UInt16, address: DeviceAddress? = nil, bus: Bus? = nil, state: State = .down, block: Block? = nil,
        supportsLowEnergy: Bool? = nil
    ) {
        self.index = index
        self.address = address
        self.bus = bus
        self.state = state
        self.block = block
        self.supportsLowEnergy = supportsLowEnergy
    }
}
