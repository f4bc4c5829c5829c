import BluetoothBase

/// What the kernel tells about one of its adapters.
public struct AdapterInformation: Hashable, Sendable {
    /// What an adapter is attached by; the raw values are the kernel's.
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

    /// Who has an adapter.
    public enum State: Hashable, Sendable {
        /// Nobody.
        case down
        /// The kernel, which is setting it up: it was plugged in a moment ago, and cannot be taken yet.
        case initializing
        /// The kernel's own host stack, which the Bluetooth daemon drives. It may still be bringing the adapter up.
        case up
        /// A program that has taken it as a whole, through its user channel: this package's, for example.
        case held(by: AdapterHolder?)
    }

    /// What keeps an adapter's radio from transmitting.
    public enum Block: Hashable, Sendable {
        /// Software did it, and software can undo it.
        case software
        /// A switch or a key of the machine.
        case hardware
    }

    /// `N` of `hciN`. It may be another one when the adapter is plugged in again.
    public var index: UInt16
    /// The public address; nil where the adapter has none, or the kernel does not know it yet.
    public var address: DeviceAddress?
    /// Nil where the kernel names a bus that is not known here.
    public var bus: Bus?
    public var state: State
    /// Nil where nothing keeps its radio from transmitting.
    public var block: Block?
    /// Whether the controller can do Low Energy; nil where the kernel has not asked it yet.
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
