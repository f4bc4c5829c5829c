import BluetoothHCI
import BluetoothPlatform

/// Why a transport could not be opened, or why it ended.
///
/// After any error except `.outputFull` the transport is unusable: close it.
public struct TransportError: Error, Equatable, Sendable {
    /// What went wrong.
    public enum Reason: Error, Equatable, Sendable {
        // Opening a stream
        /// Nothing listens at the address.
        case connectionRefused
        /// The host's name has no address; `detail` is the resolver's message.
        case hostNotFound(detail: String)
        /// There is no route to the host; `detail` is the system's message.
        case unreachable(detail: String)
        /// The time allowed for opening has passed.
        case timedOut
        /// The caller called the opening off.
        case cancelled
        /// The address is already in use by another listener.
        case addressInUse
        /// A server's path is taken by a file that is not a socket.
        case pathTaken

        // Opening an adapter
        /// The kernel offers no Bluetooth sockets here.
        case bluetoothUnavailable
        /// There is no such adapter; `present` lists those there are.
        case noSuchAdapter(present: [AdapterInformation])
        /// Another program holds the adapter exclusively through its user channel.
        case adapterHeld(by: AdapterHolder?)
        /// Something, such as the Bluetooth daemon, keeps bringing the adapter up.
        case adapterBroughtUp
        /// The kernel is still setting up the adapter, which has just been plugged in.
        case adapterInitializing
        /// The adapter's radio is switched off. If there is no adapter, a switch of the machine hides it.
        case adapterBlocked(AdapterInformation.Block)
        /// The process lacks `CAP_NET_ADMIN`; `executable` is the file to grant it to, nil if the process runs as root.
        case notPermitted(executable: String?)

        // Opening a device
        /// A serial device, a pseudo-terminal or a virtual HCI device cannot be opened.
        case device(DeviceFault)

        // An open transport
        /// The other side closed the connection, or it broke.
        case closedByPeer
        /// The adapter was unplugged, or taken down by another program.
        case adapterRemoved
        /// The bytes of a stream are not HCI packets: packet boundaries are lost.
        case malformedStream(H4Fault)
        /// A packet is empty or longer than HCI allows. It was not sent, or not delivered.
        case invalidPacketLength(Int)
        /// The other side does not read: `pending` bytes are waiting. The packet was not accepted.
        case outputFull(pending: Int)
        /// The transport was closed by its owner.
        case closed

        /// `BLUETOOTH_TRANSPORT` in the environment is not the name of a transport.
        case invalidEnvironment(TransportNameError)
        /// The transport has no socket of its own: `virtual`.
        case notASocket
        /// A system call failed with an error that has no case of its own.
        case system(call: String, code: Int32)
    }

    public var reason: Reason
    /// Whether the process or the system lacks descriptors or memory for now, so that it helps to try again later.
    public var isShortage: Bool {
        guard case .system(_, let code) = reason else { return false }
        return [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(code)
    }
    /// The name of the transport, as `TransportName.description` gives it.
    public var transport: String

    public init(_ reason: Reason, transport: String) {
        self.reason = reason
        self.transport = transport
    }
}
