import CBluetoothHCI
import Glibc

/// The system calls that open an adapter, so that tests can stand in for a kernel with Bluetooth.
struct AdapterCalls: Sendable {
    /// A socket to ask about adapters with.
    var openControl: @Sendable () throws(Errno) -> Int32
    /// The indices of the adapters present, `N` of `hciN`.
    var adapters: @Sendable (_ control: Int32) throws(Errno) -> [UInt16]
    var isUp: @Sendable (_ control: Int32, _ index: UInt16) throws(Errno) -> Bool
    var bringUp: @Sendable (_ control: Int32, _ index: UInt16) throws(Errno) -> Void
    var bringDown: @Sendable (_ control: Int32, _ index: UInt16) throws(Errno) -> Void
    /// A socket bound to the adapter's user channel.
    var openUserChannel: @Sendable (_ index: UInt16) throws(Errno) -> Int32
    var close: @Sendable (Int32) -> Void
    /// The path of the running executable.
    var executable: @Sendable () -> String

    /// The kernel's.
    static let kernel = AdapterCalls(
        openControl: { () throws(Errno) in try hciSocket().release() },
        adapters: { (control) throws(Errno) in
            var indices = [UInt16](repeating: 0, count: Int(HCI_MAX_DEV))
            let count = try Errno.check { cbt_adapter_list(control, &indices) }
            return Array(indices.prefix(Int(count)))
        },
        isUp: { (control, index) throws(Errno) in try Errno.check { cbt_adapter_is_up(control, index) } == 1 },
        bringUp: { (control, index) throws(Errno) in
            do throws(Errno) {
                try Errno.check { cbt_adapter_up(control, index) }
            } catch {
                if error.code != EALREADY { throw error }
            }
        },
        bringDown: { (control, index) throws(Errno) in try Errno.check { cbt_adapter_down(control, index) } },
        openUserChannel: { (index) throws(Errno) in
            let socket = try hciSocket()
            let descriptor = socket.fileDescriptor
            var address = sockaddr_hci(
                hci_family: sa_family_t(AF_BLUETOOTH), hci_dev: index, hci_channel: UInt16(HCI_CHANNEL_USER))
            try Errno.check {
                withUnsafePointer(to: &address) {
                    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_hci>.size))
                    }
                }
            }
            return socket.release()
        },
        close: { _ = Glibc.close($0) },
        executable: {
            var path = [CChar](repeating: 0, count: Int(PATH_MAX))
            let length = readlink("/proc/self/exe", &path, path.count)
            return length > 0
                ? String(decoding: path.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self) : "EXECUTABLE"
        }
    )

    private static func hciSocket() throws(Errno) -> Socket {
        try Socket(family: AF_BLUETOOTH, type: SOCK_RAW, protocol: BTPROTO_HCI)
    }
}
