import BluetoothHCI

/// Why a transport could not be opened, or why it ended.
///
/// After an error other than `.outputFull` the transport is of no more use: close it.
public struct TransportError: Error, Equatable, Sendable {
    /// What went wrong.
    public enum Reason: Error, Equatable, Sendable {
        // Opening a stream
        /// Nobody listens at the address.
        case connectionRefused
        /// The host's name has no address; `detail` is what the resolver said.
        case hostNotFound(detail: String)
        /// The network has no way to the host; `detail` is what the system said.
        case unreachable(detail: String)
        /// The time allowed for opening has passed.
        case timedOut
        /// The caller called the opening off.
        case cancelled
        /// Somebody else listens at the address already.
        case addressInUse
        /// A file that is not a socket is in the way of a server's path.
        case pathTaken

        // Opening an adapter
        /// The kernel offers no Bluetooth sockets here.
        case bluetoothUnavailable
        /// There is no such adapter; `present` are those there are.
        case noSuchAdapter(present: [AdapterInformation])
        /// A program has taken the adapter as a whole, through its user channel.
        case adapterHeld(by: AdapterHolder?)
        /// Something, such as the Bluetooth daemon, brings the adapter up as often as it is brought down.
        case adapterBroughtUp
        /// The kernel is still setting the adapter up: it was plugged in a moment ago.
        case adapterInitializing
        /// The adapter's radio is switched off. Where there is no adapter, a switch of the machine keeps it away.
        case adapterBlocked(AdapterInformation.Block)
        /// The process lacks `CAP_NET_ADMIN`; `executable` is the file to grant it to, nil where it is root that does.
        case notPermitted(executable: String?)

        // Opening a device
        /// A serial device, a pseudo-terminal or a virtual HCI device cannot be opened.
        case device(DeviceFault)

        // An open transport
        /// The other side closed the connection, or it broke.
        case closedByPeer
        /// The adapter was unplugged, or taken down behind our back.
        case adapterRemoved
        /// The bytes of a stream are not HCI packets: what follows cannot be told apart any more.
        case malformedStream(H4Fault)
        /// A packet is empty or longer than HCI has packets. It was not sent, or not delivered.
        case invalidPacketLength(Int)
        /// The other side does not read: `pending` bytes wait for it. The packet was not taken.
        case outputFull(pending: Int)
        /// The transport was closed by its owner.
        case closed

        /// The transport has no socket of its own: `virtual`.
        case notASocket
        /// A system call failed in a way that has no meaning of its own here.
        case system(call: String, code: Int32)
    }

    public var reason: Reason
    /// The name of the transport, as `TransportName.description` gives it.
    public var transport: String

    public init(_ reason: Reason, transport: String) {
        self.reason = reason
        self.transport = transport
    }
}
