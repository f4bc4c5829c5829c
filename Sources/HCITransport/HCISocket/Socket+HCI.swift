import BluetoothPlatform
import CBluetoothHCI

extension Socket {
    /// Opens a socket for querying the kernel about its adapters. Requires no privileges.
    static func hci() throws(Errno) -> Socket {
        try Socket(family: AF_BLUETOOTH, type: cbt_raw_socket, protocol: BTPROTO_HCI)
    }

    /// Opens a socket bound to a channel of an adapter. The user channel requires `CAP_NET_ADMIN`.
    static func hci(adapter index: UInt16, channel: Int32) throws(Errno) -> Socket {
        let socket = try hci()
        let descriptor = socket.fileDescriptor
        var address = sockaddr_hci(
            hci_family: sa_family_t(AF_BLUETOOTH), hci_dev: index, hci_channel: UInt16(truncatingIfNeeded: channel))
        try Errno.check {
            withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_hci>.size))
                }
            }
        }
        return socket
    }

    /// Opens a socket for the kernel's Bluetooth management interface, which reports adapters that appear and
    /// disappear. Requires no privileges.
    static func management() throws(Errno) -> Socket {
        try hci(adapter: UInt16(HCI_DEV_NONE), channel: HCI_CHANNEL_CONTROL)
    }
}
