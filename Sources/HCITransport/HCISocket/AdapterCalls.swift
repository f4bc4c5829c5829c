import BluetoothBase
import BluetoothPlatform
import CBluetoothHCI

/// The system calls that open an adapter, so that tests can simulate a kernel with Bluetooth.
struct AdapterCalls: Sendable {
    /// Opens a socket for querying adapters.
    var openControl: @Sendable () throws(Errno) -> Int32
    /// Returns the indices of the adapters present, the `N` of `hciN`, in no particular order.
    var indices: @Sendable (_ control: Int32) throws(Errno) -> [UInt16]
    /// Returns the kernel's information about an adapter. It does not include its holder, or the reason why it is being
    /// brought up.
    var information: @Sendable (_ control: Int32, _ index: UInt16) throws(Errno) -> AdapterInformation
    var bringUp: @Sendable (_ control: Int32, _ index: UInt16) throws(Errno) -> Void
    var bringDown: @Sendable (_ control: Int32, _ index: UInt16) throws(Errno) -> Void
    /// Opens a socket bound to the adapter's user channel.
    var openUserChannel: @Sendable (_ index: UInt16) throws(Errno) -> Int32
    var close: @Sendable (Int32) -> Void
    /// Returns the adapters managed by the kernel's own host stack; nil if the kernel does not report them.
    var managedIndices: @Sendable () -> Set<UInt16>?
    var switches: @Sendable () -> [RadioSwitch]
    /// The directories in which taken adapters are recorded.
    var recordDirectories: @Sendable () -> [String]
    /// The path of the running executable; nil if it runs as root, which needs no capability.
    var executable: @Sendable () -> String?

    /// The kernel's calls.
    static let kernel = AdapterCalls(
        openControl: { () throws(Errno) in try Socket.hci().release() },
        indices: { (control) throws(Errno) in
            var indices = [UInt16](repeating: 0, count: Int(HCI_MAX_DEV))
            let count = try Errno.check { cbt_adapter_list(control, &indices) }
            return Array(indices.prefix(Int(count)))
        },
        information: { (control, index) throws(Errno) in
            var information = hci_dev_info()
            try Errno.check { cbt_adapter_information(control, index, &information) }
            return AdapterInformation(information)
        },
        bringUp: { (control, index) throws(Errno) in
            do throws(Errno) {
                try Errno.check { cbt_adapter_up(control, index) }
            } catch {
                if error.code != EALREADY { throw error }
            }
        },
        bringDown: { (control, index) throws(Errno) in try Errno.check { cbt_adapter_down(control, index) } },
        openUserChannel: { (index) throws(Errno) in
            try Socket.hci(adapter: index, channel: HCI_CHANNEL_USER).release()
        },
        close: { _ = BluetoothPlatform.close($0) },
        managedIndices: { ManagedAdapters.indices() },
        switches: { RadioSwitch.all() },
        recordDirectories: { AdapterRecord.directories },
        executable: {
            guard geteuid() != 0 else { return nil }
            var path = [CChar](repeating: 0, count: Int(PATH_MAX))
            let length = readlink("/proc/self/exe", &path, path.count)
            return length > 0
                ? String(decoding: path.prefix(length).map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
                : "EXECUTABLE"
        }
    )
}

extension AdapterInformation {
    init(_ information: hci_dev_info) {
        let octets = withUnsafeBytes(of: information.bdaddr) { Array($0) }
        let value = octets.reversed().reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
        let features = withUnsafeBytes(of: information.features) { Array($0) }
        self.init(
            index: information.dev_id,
            address: value == 0 ? nil : DeviceAddress(value, kind: .public),
            // The bus is in the lower four bits; the upper ones distinguish primary controllers from others.
            bus: Bus(rawValue: information.type & 0x0F),
            state: Self.state(flags: information.flags),
            // Octet 4, bit 6 (Vol 2, Part C, 3.3). All octets are zero until the kernel has read the features from the
            // controller.
            supportsLowEnergy: features.allSatisfy { $0 == 0 } ? nil : features[4] & UInt8(LMP_LE) != 0)
    }

    private static func state(flags: UInt32) -> State {
        let isSet = { (bit: Int) in flags >> UInt32(bit) & 1 == 1 }
        return isSet(HCI_INIT) ? .initializing : isSet(HCI_UP) ? .up : .down
    }
}
