import BluetoothBase

/// What the kernel reports about one of its adapters.
public struct AdapterInformation: Hashable, Sendable {
    /// The bus an adapter is attached to; the raw values are the kernel's.
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

    /// Who holds an adapter.
    public enum State: Hashable, Sendable {
        /// No holder.
        case down
        /// The kernel, which is setting it up: it has just been plugged in and cannot be taken yet.
        case initializing
        /// The kernel's own host stack, which the Bluetooth daemon drives. It may still be bringing the adapter up.
        case up
        /// A program that has taken it exclusively through its user channel, for example one that uses this package.
        case held(by: AdapterHolder?)
    }

    /// What blocks an adapter's radio.
    public enum Block: Hashable, Sendable {
        /// A software switch, which software can reverse.
        case software
        /// A switch or a key of the machine.
        case hardware
    }

    /// `N` of `hciN`. It may change when the adapter is plugged in again.
    public var index: UInt16
    /// The public address; nil if the adapter has none or the kernel does not know it yet.
    public var address: DeviceAddress?
    /// Nil if the bus is unknown.
    public var bus: Bus?
    public var state: State
    /// Nil if its radio is not blocked.
    public var block: Block?
    /// Whether the controller supports Low Energy; nil if the kernel has not asked it yet.
    public var supportsLowEnergy: Bool?

    /// The kernel's name for it: `hciN`.
    public var name: String { "hci\(index)" }

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
