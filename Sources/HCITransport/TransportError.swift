import BluetoothHCI
import BluetoothPlatform

/// An error that describes why a transport could not be opened, or why it ended.
///
/// After any error except `.outputFull` the transport is unusable. Close it.
public struct TransportError: Error, Equatable, Sendable {
    /// The reason for the error.
    @nonexhaustive
    public enum Reason: Error, Equatable, Sendable {
        // Opening a stream
        /// No program listens at the address.
        case connectionRefused
        /// The host's name has no address; `detail` is the resolver's message.
        case hostNotFound(detail: String)
        /// There is no route to the host; `detail` is the system's message.
        case unreachable(detail: String)
        /// Opening the transport took longer than its timeout.
        case timedOut
        /// The caller cancelled opening.
        case cancelled
        /// The address is already in use by another listener.
        case addressInUse
        /// A server's path is taken by a file that is not a socket.
        case pathTaken

        // Opening an adapter
        /// The kernel offers no Bluetooth sockets here.
        case bluetoothUnavailable
        /// The adapter does not exist. `present` lists the available adapters.
        case noSuchAdapter(present: [AdapterInformation])
        /// Another program holds the adapter exclusively through its user channel.
        case adapterHeld(by: AdapterHolder?)
        /// Another program, such as the Bluetooth daemon, keeps bringing the adapter up.
        case adapterBroughtUp
        /// The kernel is still setting up the adapter, which has just been plugged in.
        case adapterInitializing
        /// The adapter's radio is switched off, or a switch of the machine keeps the adapter from appearing at all.
        case adapterBlocked(AdapterInformation.Block)
        /// The process lacks a capability: `CAP_NET_ADMIN` to open an adapter, `CAP_NET_RAW` to read the monitor
        /// channel. `executable` is the file to grant it to; nil if the process runs as root.
        case notPermitted(executable: String?)

        // Opening a device
        /// A serial device, a pseudo-terminal or a virtual HCI device cannot be opened.
        case device(DeviceFault)

        // An open transport
        /// The other side closed the connection, or it broke.
        case closedByPeer
        /// The adapter was unplugged, or taken down by another program.
        case adapterRemoved
        /// The bytes of a stream are not HCI packets, so packet boundaries are lost.
        case malformedStream(H4Fault)
        /// A packet is empty or longer than HCI allows. It was not sent or delivered.
        case invalidPacketLength(Int)
        /// The other side is not reading, and `pending` bytes are waiting. The packet was not accepted.
        case outputFull(pending: Int)
        /// The owner has closed the transport.
        case closed

        // Capturing packets
        /// A capture file cannot be created or written; `code` is the system's error number. The error's `transport`
        /// is the path.
        case captureNotWritable(code: Int32)

        /// `BLUETOOTH_TRANSPORT` in the environment is not the name of a transport.
        case invalidEnvironment(TransportNameError)
        /// The transport can't be opened this way: `virtual` has no socket, and only servers can listen.
        case notASocket
        /// The program does not link the product `VirtualRadio`, which implements the transport `virtual`.
        case radioNotLinked
        /// A system call failed with an error that no other case covers.
        case system(call: String, code: Int32)
    }

    /// The reason why the transport could not be opened, or why it ended.
    public var reason: Reason
    /// Whether the process or the system has temporarily run out of descriptors or memory, so that a later retry may
    /// succeed.
    public var isShortage: Bool {
        guard case .system(_, let code) = reason else { return false }
        return [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(code)
    }
    /// The name of the transport, as returned by `TransportName.description`.
    public var transport: String

    /// Creates an error for the transport with this name.
    public init(_ reason: Reason, transport: String) {
        self.reason = reason
        self.transport = transport
    }
}
